// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Weights of bins per family, as pure functions in sorted order (where the order of bins carries no meaning). Relative:
// only ratios matter. Exact arithmetic, so that every compiler gives the same bits.
#pragma once

#include "common/base/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb {

/// The sigma of a lognormal distribution with this Gini coefficient: sqrt(2) * quantile((gini + 1) / 2).
[[nodiscard]] double lognormal_sigma(double gini);

/// exp(sigma * quantile((i + 0.5) / bins)): stratified, ascending, no sampling noise.
[[nodiscard]] std::vector<double> lognormal_weights(std::size_t bins, double gini);

/// (i + 1)^-exponent.
[[nodiscard]] std::vector<double> zipf_weights(std::size_t bins, double exponent);

/// What the truncated power law shares out: loads of bins that are owned in order by owners, owner_of[bin] ascending.
struct PowerLaw {
    double alpha = 1;
    std::uint64_t items = 0;  // each picks `picks` different bins
    std::uint64_t picks = 1;
    std::span<std::size_t const> owner_of;
};

/// Integer loads that sum to items * picks, none above items: independent draws from x^-alpha on [1, 0.8 * items] (on
/// [0.01, 2] when there are at most as many picks as bins), scaled and rounded; the remainder goes round-robin over the
/// owners; the heaviest owner changes places with the first. The shape of NVIDIA aiconfigurator's power-law workloads.
[[nodiscard]] std::vector<std::uint64_t> power_law_loads(PowerLaw const& law, RandomSequence& random);

}  // namespace dlmb

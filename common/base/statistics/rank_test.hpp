// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The exact rank test of two ways that were measured in the same launches (signed ranks). Launches differ from each
// other by far more than two ways differ in one of them, so each launch gives one ratio, and the ratios are tested.
#pragma once

#include <span>
#include <vector>

namespace dlmb::statistics {

/// Exact one-sided signed-rank test with midranks on the logarithms of candidate / reference, one ratio per launch: the
/// probability, if neither were faster, that they lie as low as they do. Ratios of 1 say nothing and are left out; 1
/// where none is left. Source: Wilcoxon, Individual Comparisons by Ranking Methods (1945); Lehmann, Nonparametrics
/// (1975), section 3.2.
[[nodiscard]] double probability_by_chance(std::span<double const> ratios);

/// Hodges-Lehmann estimate of the ratio, with the interval of at least 95 % that belongs to the test.
struct Ratio {
    double estimate = 1;
    double low = 0;  // 0 and infinity where so few launches give no such interval
    double high = 0;
};
/// Ratios are positive; there is at least one.
[[nodiscard]] Ratio ratio_of(std::span<double const> ratios);

/// Benjamini-Hochberg: which of `probabilities` are significant when a share of `q` of all that are called so may be
/// called so wrongly.
[[nodiscard]] std::vector<bool> discoveries(std::span<double const> probabilities, double q);

}  // namespace dlmb::statistics

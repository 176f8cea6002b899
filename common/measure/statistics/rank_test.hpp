// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The exact distribution of the Mann-Whitney statistic: in how many of the pairs (one value of each side) the
// candidate's value is the larger one. Without ties.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dlmb::measure {

/// Entry u: the probability of exactly u such pairs when both sides have one distribution.
[[nodiscard]] std::vector<double> pair_distribution(std::size_t baseline, std::size_t candidate);

/// The least u that is reached or exceeded by chance with probability `alpha` or less; none where even all pairs are
/// not that unlikely.
[[nodiscard]] std::optional<std::size_t> critical_pairs(std::size_t baseline, std::size_t candidate, double alpha);

}  // namespace dlmb::measure

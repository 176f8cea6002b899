// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether one set of launches is faster than another. The launch is the unit: one number each.
#pragma once

#include <span>
#include <vector>

namespace dlmb::tuning {

/// Exact one-sided Mann-Whitney test with midranks: the probability, if both sides were alike, that the values of
/// `candidate` lie as low among all values as they do. 1 where a side is empty. Source: Lehmann, Nonparametrics (1975),
/// sections 1.2 and 1.4; the count of subsets by rank sum is dynamic programming over doubled midranks.
[[nodiscard]] double probability_of_luck(std::span<double const> candidate, std::span<double const> reference);

/// Hodges-Lehmann estimate of candidate / reference, with the interval of at least 95 % that belongs to the test.
/// Values are positive; both sides have at least one.
struct Ratio {
    double estimate = 1;
    double low = 0;  // 0 and infinity where so few launches give no such interval
    double high = 0;
};
[[nodiscard]] Ratio ratio_of(std::span<double const> candidate, std::span<double const> reference);

/// Benjamini-Hochberg: which of `probabilities` are significant when a share of `q` of all that are called so may be
/// called so wrongly.
[[nodiscard]] std::vector<bool> discoveries(std::span<double const> probabilities, double q);

}  // namespace dlmb::tuning

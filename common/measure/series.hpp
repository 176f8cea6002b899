// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the order of a cell's samples says: how much neighbours repeat each other, whether the level moved slowly or at
// once. Everything works on ranks or medians, so that single long samples decide nothing.
#pragma once

#include "common/measure/result.hpp"

#include <span>
#include <vector>

namespace dlmb::measure {

/// Each sample over the median of its draw: draw i mod `draws` is known traffic, not an unquiet machine. Samples as
/// they are where `draws` is 1; empty where a draw has fewer than ten samples.
[[nodiscard]] std::vector<double> without_draws(std::span<Nanoseconds const> samples, std::size_t draws);

/// Autocorrelation at lag 1 of the values' ranks (ties share their mean rank), -1..1; 0 where all are equal.
[[nodiscard]] double rank_lag1(std::span<double const> values);

/// n / (1 + 2 sum of rho_k), k = 1, 2, ... in pairs until a pair's sum is negative (the cut that Geyer, Statistical
/// Science 7 (1992) proposes), rho_k the rank autocorrelation at lag k. At most n; lags above 1000 are not looked at.
[[nodiscard]] double effective_samples(std::span<double const> values);

/// Medians of at most 100 blocks of consecutive values, as equally long as they can be.
[[nodiscard]] std::vector<double> block_medians(std::span<double const> values);

/// Theil-Sen slope over the block medians (the median of all pairs' slopes), as the change over the whole of `values`
/// and a share of their median.
[[nodiscard]] double relative_drift(std::span<double const> values);

/// Where the level changed most, by the largest cumulative sum of ranks (Pettitt, Applied Statistics 28 (1979)).
struct LevelStep {
    std::size_t at = 0;      // first value behind it
    double probability = 1;  // of so large a sum without any step, for independent values
    double change = 0;       // median behind it over median before it, minus 1
};
/// Of at least two values.
[[nodiscard]] LevelStep find_step(std::span<double const> values);

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of a cell's samples that bear on their median: how much neighbours repeat each other, whether the level
// moved slowly or at once, whether there are two levels, whether they are too short for the clock. Everything works on
// ranks or medians, so that single long samples decide nothing.
#pragma once

#include "common/base/units.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::statistics {

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
/// Takes at least two values.
[[nodiscard]] LevelStep find_step(std::span<double const> values);

/// The best split of the values in two classes of at least a tenth each, found on logarithms with 1 % left out at
/// either end.
struct ClassSplit {
    double share = 0;     // of the variance that lies between the classes; a normal distribution has 2 / pi
    double distance = 0;  // median of the upper class over that of the lower, minus 1
};
/// Takes positive values; all zero below 10 of them or where all are equal.
[[nodiscard]] ClassSplit best_split(std::span<double const> values);

/// Share 0.80 or more, and classes 10 % apart or more.
[[nodiscard]] bool is_bimodal(ClassSplit const& split);

/// "drift" (Theil-Sen change above 5 %), "step" (a change of more than 5 % at one place that chance gives once in 1000
/// times), "bimodal" (two levels at least 10 % apart). Empty below 30 samples: that few say nothing of the kind.
[[nodiscard]] std::vector<std::string> flags_of(std::span<Nanoseconds const> samples, std::size_t draws);

/// A sample shorter than 20 reads of the timer (its overhead is above 5 %: Hoefler and Belli, SC'15), or than 10 errors
/// of the common clock (0: samples are not taken on one). `sample_ns`: median of whole samples, not of their
/// iterations. `timer_ns`: cost of one read.
[[nodiscard]] bool is_below_floor(double sample_ns, double timer_ns, double common_error_ns);

}  // namespace dlmb::statistics

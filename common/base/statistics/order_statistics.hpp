// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Order statistics of samples. Nothing here assumes a distribution: medians, ranks, nearest-rank quantiles and the
// exact binomial interval of a median. Which samples are compared with which is not decided here.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlmb::statistics {

/// Takes a non-empty set; the mean of the two middle values when their number is even.
[[nodiscard]] double median(std::span<Nanoseconds const> values);
[[nodiscard]] double median(std::span<double const> values);

/// Twice the rank (1, 2, ...) of each value among all, equal values sharing their mean rank: integers.
[[nodiscard]] std::vector<std::uint64_t> doubled_midranks(std::span<double const> values);

/// Nearest rank: x[ceil(percent / 100 * n) - 1] of ascending, non-empty values, 0 < percent <= 100.
[[nodiscard]] Nanoseconds nearest_rank(std::span<Nanoseconds const> sorted, std::uint64_t percent);

/// The nearest rank where there are enough values to bound that percentile from both sides with 95 %: from 5 on for the
/// 50th, 29 for the 90th, 59 for the 95th, 299 for the 99th. The 100th is the largest value, of any number.
[[nodiscard]] std::optional<Nanoseconds> percentile(std::span<Nanoseconds const> sorted, std::uint64_t percent);

/// 1-based ranks of the two order statistics that enclose the median.
struct IntervalRanks {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(IntervalRanks const&) const = default;
};

/// The narrowest symmetric pair that covers the median of independent values with at least 95 %. None below 6 values.
[[nodiscard]] std::optional<IntervalRanks> median_interval_ranks(std::uint64_t n);

struct Interval {
    double low = 0;
    double high = 0;
};

/// 95 % interval of the median. None below 6 values.
[[nodiscard]] std::optional<Interval> median_interval(std::span<double const> values);

/// Median of rounds 1, 3, 5 ... over that of rounds 2, 4, 6 ...: what a comparison of the cell with itself shows.
/// nullopt for fewer than two rounds.
[[nodiscard]] std::optional<double> aa_ratio(std::span<double const> round_medians_ns);

}  // namespace dlmb::statistics

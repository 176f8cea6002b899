// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/statistics/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace dlmb::statistics {
namespace {

// The extremes of 5 values enclose the median with 1 - 2 / 2^5 = 93.75 %, those of 6 with 96.9 %.
constexpr std::uint64_t least_samples_for_interval = 6;
constexpr double confidence = 0.95;

template <class Value>
std::vector<Value> ascending(std::span<Value const> values) {
    std::vector<Value> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

template <class Value>
double median_of_sorted(std::vector<Value> const& sorted) {
    std::size_t const n = sorted.size();
    auto const upper = static_cast<double>(sorted[n / 2]);
    return n % 2 == 1 ? upper : (static_cast<double>(sorted[n / 2 - 1]) + upper) / 2;
}

}  // namespace

double median(std::span<Nanoseconds const> values) {
    return median_of_sorted(ascending(values));
}
double median(std::span<double const> values) {
    return median_of_sorted(ascending(values));
}

std::vector<std::uint64_t> doubled_midranks(std::span<double const> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<std::uint64_t> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) {
            ++last;
        }
        for (std::size_t i = first; i <= last; ++i) {
            ranks[order[i]] = first + last + 2;
        }
        first = last + 1;
    }
    return ranks;
}

Nanoseconds nearest_rank(std::span<Nanoseconds const> sorted, std::uint64_t percent) {
    std::uint64_t const rank = (sorted.size() * percent + 99) / 100;  // integers: 0.95 * 20 must not round up to 20
    return sorted[std::clamp<std::uint64_t>(rank, 1, sorted.size()) - 1];
}

// All of n values lie on one side of the percentile with share^n, share being that of its longer side: 0.99^298 > 0.05
// > 0.99^299. Until that is rare the extreme of the values says nothing of it.
std::optional<Nanoseconds> percentile(std::span<Nanoseconds const> sorted, std::uint64_t percent) {
    double const share = static_cast<double>(std::max(percent, 100 - percent)) / 100;
    bool const enough = percent == 100 || std::pow(share, static_cast<double>(sorted.size())) <= 1 - confidence;
    return sorted.empty() || !enough ? std::nullopt : std::optional(nearest_rank(sorted, percent));
}

std::optional<IntervalRanks> median_interval_ranks(std::uint64_t n) {
    if (n < least_samples_for_interval) {
        return std::nullopt;
    }
    // [x(l), x(n+1-l)] covers the median with the Binomial(n, 1/2) mass of l .. n-l. Masses are taken relative to the
    // central one and walked outwards, so nothing overflows for any n and only about sqrt(n) terms matter.
    std::uint64_t const centre = n / 2;
    auto const next_weight = [n](double weight, std::uint64_t k) {  // of k - 1, from that of k
        return weight * static_cast<double>(k) / static_cast<double>(n - k + 1);
    };
    constexpr double negligible = 1e-20;

    double const middle = n % 2 == 1 ? 2 : 1;  // odd n: k = centre and k = centre + 1 weigh the same
    double total = middle;
    double weight = 1;
    for (std::uint64_t k = centre; k > 0 && weight > negligible; --k) {
        weight = next_weight(weight, k);
        total += 2 * weight;
    }

    double mass = middle;
    weight = 1;
    std::uint64_t low = centre;
    while (mass < confidence * total) {
        weight = next_weight(weight, low);
        mass += 2 * weight;
        --low;
    }
    return IntervalRanks{low, n + 1 - low};
}

std::optional<Interval> median_interval(std::span<double const> values) {
    auto const ranks = median_interval_ranks(values.size());
    if (!ranks) {
        return std::nullopt;
    }
    std::vector<double> const sorted = ascending(values);
    return Interval{sorted[ranks->low - 1], sorted[ranks->high - 1]};
}

std::optional<double> aa_ratio(std::span<double const> round_medians_ns) {
    std::array<std::vector<double>, 2> halves;
    for (std::size_t i = 0; i < round_medians_ns.size(); ++i) {
        halves[i % 2].push_back(round_medians_ns[i]);
    }
    if (halves[1].empty() || !(median(halves[1]) > 0)) {
        return std::nullopt;
    }
    return median(halves[0]) / median(halves[1]);
}

}  // namespace dlmb::statistics

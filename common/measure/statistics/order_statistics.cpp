// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/statistics/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace dlmb::measure {
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

template <class Value>
std::optional<Interval> interval_of_sorted(std::vector<Value> const& sorted) {
    auto const ranks = median_interval_ranks(sorted.size());
    if (!ranks) {
        return std::nullopt;
    }
    return Interval{static_cast<double>(sorted[ranks->low - 1]), static_cast<double>(sorted[ranks->high - 1])};
}

/// Median of the distances to `centre`.
double median_distance(std::vector<Nanoseconds> const& values, double centre) {
    std::vector<double> distances;
    distances.reserve(values.size());
    for (Nanoseconds const value : values) {
        distances.push_back(std::abs(static_cast<double>(value) - centre));
    }
    std::sort(distances.begin(), distances.end());
    return median_of_sorted(distances);
}

std::uint64_t count_outliers(std::vector<Nanoseconds> const& sorted, double q1, double q3) {
    double const fence = 1.5 * (q3 - q1);
    return static_cast<std::uint64_t>(std::count_if(sorted.begin(), sorted.end(), [&](Nanoseconds value) {
        return static_cast<double>(value) < q1 - fence || static_cast<double>(value) > q3 + fence;
    }));
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
    return interval_of_sorted(ascending(values));
}

TimeSummary summarize(std::span<Nanoseconds const> samples) {
    TimeSummary summary;
    if (samples.empty()) {
        return summary;
    }
    std::vector<Nanoseconds> const sorted = ascending(samples);
    auto const part = [&](std::uint64_t percent) -> std::optional<double> {
        auto const value = percentile(sorted, percent);
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    summary.samples = sorted.size();
    summary.median = median_of_sorted(sorted);
    if (auto const interval = interval_of_sorted(sorted)) {
        summary.median_low = interval->low;
        summary.median_high = interval->high;
    }
    summary.min = static_cast<double>(sorted.front());
    summary.max = static_cast<double>(sorted.back());
    summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    summary.q1 = static_cast<double>(nearest_rank(sorted, 25));
    summary.q3 = static_cast<double>(nearest_rank(sorted, 75));
    summary.p90 = part(90);
    summary.p95 = part(95);
    summary.p99 = part(99);
    summary.mad = median_distance(sorted, summary.median);
    summary.outliers = count_outliers(sorted, summary.q1, summary.q3);
    return summary;
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

Straggler find_straggler(std::span<Rank const> slowest, int ranks) {
    if (slowest.empty()) {
        return {};
    }
    std::vector<std::uint64_t> times(static_cast<std::size_t>(ranks), 0);
    for (Rank const rank : slowest) {
        ++times.at(static_cast<std::size_t>(rank));
    }
    auto const most = std::max_element(times.begin(), times.end());
    return {static_cast<Rank>(most - times.begin()), static_cast<double>(*most) / static_cast<double>(slowest.size())};
}

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/summaries.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/base/statistics/series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace dlmb::measure {
namespace {

/// Median of the distances to `centre`.
double median_distance(std::span<double const> values, double centre) {
    std::vector<double> distances;
    distances.reserve(values.size());
    for (double const value : values) {
        distances.push_back(std::abs(value - centre));
    }
    return statistics::median(distances);
}

std::uint64_t count_outliers(std::span<double const> values, double q1, double q3) {
    double const fence = 1.5 * (q3 - q1);
    return static_cast<std::uint64_t>(std::count_if(
        values.begin(), values.end(), [&](double value) { return value < q1 - fence || value > q3 + fence; }));
}

}  // namespace

record::TimeSummary summarize(std::span<Nanoseconds const> samples) {
    record::TimeSummary summary;
    if (samples.empty()) {
        return summary;
    }
    std::vector<Nanoseconds> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> const values(sorted.begin(), sorted.end());
    auto const part = [&](std::uint64_t percent) -> std::optional<double> {
        auto const value = statistics::percentile(sorted, percent);
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    summary.samples = values.size();
    summary.median = statistics::median(values);
    if (auto const interval = statistics::median_interval(values)) {
        summary.median_low = interval->low;
        summary.median_high = interval->high;
    }
    summary.min = values.front();
    summary.max = values.back();
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    summary.q1 = static_cast<double>(statistics::nearest_rank(sorted, 25));
    summary.q3 = static_cast<double>(statistics::nearest_rank(sorted, 75));
    summary.p90 = part(90);
    summary.p95 = part(95);
    summary.p99 = part(99);
    summary.mad = median_distance(values, summary.median);
    summary.outliers = count_outliers(values, summary.q1, summary.q3);
    return summary;
}

std::optional<record::SampleSeries> describe_series(std::span<Nanoseconds const> samples, std::size_t draws) {
    std::vector<double> const values = statistics::without_draws(samples, draws);
    if (values.size() < 2) {
        return std::nullopt;
    }
    return record::SampleSeries{statistics::rank_lag1(values), statistics::effective_samples(values),
                                statistics::relative_drift(values), statistics::find_step(values).at};
}

record::Straggler find_straggler(std::span<Rank const> slowest, int ranks) {
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

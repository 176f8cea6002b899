// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/bimodality.hpp"

#include "common/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace dlmb::measure {
namespace {

constexpr std::size_t least_values = 10;  // a tenth of them is one
constexpr double trimmed_at_each_end = 0.01;
constexpr double least_class = 0.1;
constexpr double least_share = 0.80;
constexpr double least_distance = 0.10;

std::vector<double> trimmed_logarithms(std::span<double const> values) {
    std::vector<double> logs;
    logs.reserve(values.size());
    for (double const value : values) {
        logs.push_back(std::log(value));
    }
    std::sort(logs.begin(), logs.end());
    auto const left_out = static_cast<std::ptrdiff_t>(trimmed_at_each_end * static_cast<double>(logs.size()));
    return {logs.begin() + left_out, logs.end() - left_out};
}

}  // namespace

Split best_split(std::span<double const> values) {
    bool const positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
    if (values.size() < least_values || !positive) {
        return {};
    }
    std::vector<double> const logs = trimmed_logarithms(values);
    if (logs.front() == logs.back()) {
        return {};
    }
    auto const n = static_cast<double>(logs.size());
    double const mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
    double total = 0;
    for (double const value : logs) {
        total += (value - mean) * (value - mean);
    }
    auto const least = static_cast<std::size_t>(std::ceil(least_class * n));
    double below = 0;  // sum of the deviations in the lower class
    double most = 0;
    std::size_t best = 0;
    for (std::size_t size = 1; size + least <= logs.size(); ++size) {
        below += logs[size - 1] - mean;
        if (size < least) {
            continue;
        }
        auto const lower = static_cast<double>(size);
        double const between = below * below * (1 / lower + 1 / (n - lower));
        if (between > most) {
            most = between;
            best = size;
        }
    }
    std::span<double const> const all(logs);
    return {most / total, std::exp(median(all.subspan(best)) - median(all.first(best))) - 1};
}

bool is_bimodal(Split const& split) {
    return split.share >= least_share && split.distance >= least_distance;
}

}  // namespace dlmb::measure

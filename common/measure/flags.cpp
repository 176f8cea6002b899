// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/flags.hpp"

#include "common/measure/bimodality.hpp"
#include "common/measure/series.hpp"

#include <cmath>

namespace dlmb::measure {
namespace {

constexpr std::size_t least_for_flags = 30;
constexpr double large_change = 0.05;
constexpr double unlikely = 0.001;
constexpr double timer_reads = 20;
constexpr double clock_errors = 10;

}  // namespace

std::optional<SampleSeries> describe_series(std::span<Nanoseconds const> samples, std::size_t draws) {
    std::vector<double> const values = without_draws(samples, draws);
    if (values.size() < 2) {
        return std::nullopt;
    }
    return SampleSeries{rank_lag1(values), effective_samples(values), relative_drift(values), find_step(values).at};
}

std::vector<std::string> flags_of(std::span<Nanoseconds const> samples, std::size_t draws) {
    std::vector<double> const values = without_draws(samples, draws);
    std::vector<std::string> flags;
    if (values.size() < least_for_flags) {
        return flags;
    }
    if (std::abs(relative_drift(values)) > large_change) {
        flags.emplace_back("drift");
    }
    // Of block medians: neighbouring samples repeat each other, which the probability does not know of.
    LevelStep const step = find_step(block_medians(values));
    if (step.probability < unlikely && std::abs(step.change) > large_change) {
        flags.emplace_back("step");
    }
    if (is_bimodal(best_split(values))) {
        flags.emplace_back("bimodal");
    }
    return flags;
}

bool is_below_floor(double sample_ns, ClockFloor const& floor) {
    return sample_ns < timer_reads * floor.timer_ns || sample_ns < clock_errors * floor.common_error_ns.value_or(0);
}

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// When a cell's median is a poor description of it: the machine moved under it, it has two levels, or it is too short
// for the clock.
#pragma once

#include "common/measure/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

/// `samples` in the order of measuring, sample i of draw i mod `draws`. nullopt for fewer than two samples, or ten of
/// a draw.
[[nodiscard]] std::optional<SampleSeries> describe_series(std::span<Nanoseconds const> samples, std::size_t draws);

/// "drift" (Theil-Sen change above 5 %), "step" (a change of more than 5 % at one place that chance gives once in 1000
/// times), "bimodal" (two levels at least 10 % apart). Empty below 30 samples: that few say nothing of the kind.
[[nodiscard]] std::vector<std::string> flags_of(std::span<Nanoseconds const> samples, std::size_t draws);

/// What the clocks of a launch can resolve.
struct ClockFloor {
    double timer_ns = 0;                         // cost of one read
    std::optional<double> common_error_ns = {};  // of the ranks' common clock, where samples are taken on one
};
/// A sample shorter than 20 reads of the timer (its overhead is above 5 %: Hoefler and Belli, SC'15), or than 10 errors
/// of the common clock. `sample_ns`: median of whole samples, not of their iterations.
[[nodiscard]] bool is_below_floor(double sample_ns, ClockFloor const& floor);

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests that arrive while an iteration runs. A step of phase "arrival" whose `microbatch` is R is over when request
// R arrives; the steps of all ranks with that number serve it. A request arrives at a planned time, where its step and
// those before it only watch the clock, or when something is complete (a barrier).
#pragma once

#include "common/formats/plan/plan.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace dlmb {

inline constexpr std::string_view arrival_phase = "arrival";

[[nodiscard]] inline bool is_arrival(Step const& step) {
    return step.microbatch >= 0 && phase_of(step.label) == arrival_phase;
}

/// The step before a Compute step with which it is over at a planned time: both only watch the clock, uninterrupted by
/// nothing, and the later one waits for nothing else. Nothing: there is no such step.
[[nodiscard]] std::optional<StepId> timer_before(Plan const& plan, StepId step);

/// By step: after the begin of the iteration, for those that are over at a planned time.
[[nodiscard]] std::vector<std::optional<Nanoseconds>> planned_ends(Plan const& plan);

}  // namespace dlmb

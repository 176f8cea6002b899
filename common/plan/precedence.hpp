// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What must happen on a rank before one of its steps may start: the steps that it waits for are complete, and the step
// before it on the same channel or group has been posted, because libraries pair those up by their order.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace dlmb {

/// Over tasks that are numbered from 0; a task only names earlier ones.
struct Precedence {
    std::vector<std::vector<std::uint32_t>> complete;  // by task: those that are complete before it starts
    std::vector<std::vector<std::uint32_t>> started;   // by task: those that have started before it starts
};

/// Tasks are the plan's steps. Throws Error when a step waits for itself or for a later step.
[[nodiscard]] Precedence precedence_of(Plan const& plan);

/// Every step waits for the one before it: nothing overlaps, and steps run in plan order.
[[nodiscard]] bool is_chain(Plan const& plan);

/// The most communicating steps that wait for one another by `after`; 0 for a plan without any.
[[nodiscard]] std::size_t longest_chain(Plan const& plan);

/// Whether `later` starts only after `earlier` is complete, by any path of `after`.
[[nodiscard]] bool waits_for(Plan const& plan, StepId later, StepId earlier);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan cut where the backend or the method changes. Parts of one backend in a row are an epoch: between epochs all
// ranks wait until nothing is in flight.
#pragma once

#include "common/backend_kit/chooser.hpp"

namespace dlmb::tuned {

/// Consecutive steps that one compiled plan of one backend does.
struct Part {
    StepChoice choice;  // of its first step that communicates
    std::vector<StepId> steps;
};

/// "ucx/ring": equal for choices that may share a part. The rules behind them may differ.
[[nodiscard]] std::string name_of(StepChoice const& choice);

/// `choices`: by StepId. A Compute step stays with the steps before it, at the beginning of a plan with those behind
/// it. None: nothing communicates.
[[nodiscard]] std::vector<Part> cut(Plan const& plan, std::vector<StepChoice> const& choices);

/// The steps of one part as a plan of the same groups and buffers. It waits only for steps of its own: those of earlier
/// parts are complete when it starts.
[[nodiscard]] Plan plan_of(Plan const& whole, Part const& part);

}  // namespace dlmb::tuned

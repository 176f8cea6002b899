// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps grouped by dependency depth: the steps of one wave do not wait for each other and may be posted together.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace dlmb {

/// The wave of every step, by StepId: 0 where it waits for nothing, else one more than the latest step it waits for.
/// Throws Error when a step waits for itself or for a later step.
[[nodiscard]] std::vector<std::uint32_t> wave_of_steps(Plan const& plan);

/// Waves in order; inside a wave steps keep plan order, which is the same on all ranks for the steps of a group.
[[nodiscard]] std::vector<std::vector<StepId>> waves(Plan const& plan);

}  // namespace dlmb

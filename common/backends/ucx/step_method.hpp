// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How each step of a plan is done: by messages in the order of a method, or by an algorithm.
#pragma once

#include "common/backend_kit/algorithms/catalogue.hpp"
#include "common/backends/ucx/methods.hpp"

#include <optional>
#include <vector>

namespace dlmb::ucx {

struct StepMethod {
    Method const* messages = nullptr;  // orders the step's messages; nullptr: an algorithm's step or a Compute step
    std::optional<algorithms::Collective> collective;  // of an algorithm's step
    algorithms::MicroPlan micro;                       // of an algorithm's step
};

/// By StepId. A step that its method cannot do makes the whole plan Unsupported.
[[nodiscard]] Expected<std::vector<StepMethod>, Unsupported> step_methods(Plan const& plan, Buffers const& buffers,
                                                                          ChosenMethods const& methods);

}  // namespace dlmb::ucx

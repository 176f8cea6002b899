// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How each step of a plan is done: in shared memory, by messages in the order of a method, or by an algorithm.
#pragma once

#include "common/backends/ucx/collective.hpp"
#include "common/backends/ucx/method_table.hpp"
#include "common/backends/ucx/shared_way.hpp"
#include "common/backends/ucx/wires.hpp"

#include <string>

namespace dlmb::ucx {

struct StepWay {
    Method const* method = nullptr;  // of messages; else nullptr
    std::optional<Collective> collective;
    std::optional<algorithms::MicroPlan> micro;
    std::optional<SharedWay> shared;  // of an exchange: the blocks that are no messages
};

/// By StepId. A step that cannot be done so makes the whole Unsupported. `sharing`: by world rank, whether it shares
/// memory with this one. `wires`: what the messages of a group travel by. `use`: of windows, on all ranks.
[[nodiscard]] Expected<std::vector<StepWay>, Unsupported> ways_of(Plan const& plan, Buffers const& buffers,
                                                                  ChosenMethods const& methods,
                                                                  std::vector<bool> const& sharing, Wires const& wires,
                                                                  WindowUse use);

}  // namespace dlmb::ucx

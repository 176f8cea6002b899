// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From lowered and matched steps to tasks.
#pragma once

#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/matching.hpp"
#include "common/backends/ucx/shared_windows.hpp"
#include "common/backends/ucx/tasks.hpp"

namespace dlmb::ucx {

struct TaskSources {
    Plan const& plan;
    std::vector<LoweredStep> const& steps;
    std::vector<StepWay> const& ways;
    ChosenMethods const& methods;
    MatchedTags const& tags;
    std::uint64_t first_operation = 0;
    SharedWindows const* windows = nullptr;  // of steps in shared memory
    DeviceQueues* device = nullptr;          // does local work and Compute steps; nullptr: the host does
};

/// `messages` and the device's queues are kept by the lanes; endpoints of all peers exist.
[[nodiscard]] Tasks build_tasks(TaskSources const& from, Messages& messages, Transport const& transport);

}  // namespace dlmb::ucx

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as tasks: what a Schedule runs as their dependencies allow. A step that is one exchange, gather or message is
// one batch. A step done by an algorithm is a join, a task per micro-step, and another join that stands for the whole.
// A Compute step is one task.
#pragma once

#include "common/backend_kit/device_compute.hpp"
#include "common/backend_kit/host_compute.hpp"
#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/matching.hpp"
#include "common/backends/ucx/messages.hpp"
#include "common/plan/ready_queue.hpp"

#include <memory>

namespace dlmb::ucx {

struct Task {
    enum class Kind : std::uint8_t { join, batch, send, receive, work, compute, device_work, device_compute };

    Kind kind = Kind::join;  // a join is complete when it is ready
    bool ends_step = false;  // when it is complete, the step is
    StepId step = 0;
    std::uint32_t index = 0;  // in the list of its kind; a join has none
};

struct Tasks {
    std::vector<Task> all;
    Precedence precedence;  // over `all`
    std::vector<std::unique_ptr<MessageBatch>> batches;
    std::vector<Transfer> transfers;  // of tasks that send or receive
    std::vector<LocalWork> work;      // of the host or of the device
    std::vector<HostCompute> computes;
    std::vector<DeviceCompute> device_computes;
    std::vector<std::string> step_names;  // by StepId: for errors
};

struct TaskSources {
    Plan const& plan;
    std::vector<LoweredStep> const& steps;
    std::vector<StepMethod> const& step_methods;
    ChosenMethods const& methods;
    MatchedTags const& tags;
    std::uint64_t first_operation = 0;
    DeviceQueues* device = nullptr;  // does local work and Compute steps; nullptr: the host does
};

/// The batches keep `messages` and the device's queues. Endpoints of all peers exist.
[[nodiscard]] Tasks build_tasks(TaskSources const& from, Messages& messages, Worker const& worker);

}  // namespace dlmb::ucx

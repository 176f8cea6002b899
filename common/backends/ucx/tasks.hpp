// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as tasks: what a Schedule runs, one after the other as their dependencies allow. A step that is one exchange,
// gather or message is one lane; a step in shared memory is one, too, with a lane of messages beside it and a gate that
// stands for both where its largest blocks are messages; a step done by an algorithm is a gate, a task per micro-step,
// and another gate that stands for the whole; a Compute step is one task.
#pragma once

#include "common/backend_kit/device_compute.hpp"
#include "common/backend_kit/host_compute.hpp"
#include "common/backends/ucx/lane.hpp"
#include "common/backends/ucx/shared_lane.hpp"
#include "common/plan/precedence.hpp"

#include <memory>

namespace dlmb::ucx {

struct Task {
    enum class Kind : std::uint8_t { gate, lane, shared, send, receive, work, compute, device_work, device_compute };

    Kind kind = Kind::gate;
    bool ends_step = false;  // when it is complete, the step is
    StepId step = 0;
    std::uint32_t index = 0;  // in the list of its kind; a gate has none
};

struct Tasks {
    std::vector<Task> all;
    Precedence precedence;  // over `all`
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<SharedLane> shared;
    std::vector<Transfer> transfers;  // of tasks that send or receive
    std::vector<LocalWork> work;      // of the host or of the device
    std::vector<HostCompute> computes;
    std::vector<DeviceCompute> device_computes;
    std::vector<std::string> step_names;  // by StepId: for messages
};

}  // namespace dlmb::ucx

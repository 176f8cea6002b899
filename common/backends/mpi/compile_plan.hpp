// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From the steps of a plan to prepared calls. Not for the timed region.
#pragma once

#include "common/backends/mpi/methods.hpp"
#include "common/backends/mpi/plan_requirements.hpp"
#include "common/backends/mpi/staging.hpp"

namespace dlmb::mpi {

/// What prepared calls are made from. The references outlive them.
struct PlanInputs {
    Plan const& plan;
    ChosenMethod const& method;
    PlanRequirements const& agreed;      // equal on all ranks
    Communicators const& communicators;  // prepared for the plan
    Limits const& limits;
    Buffers const& buffers;
    DeviceQueues const* queues = nullptr;  // of the device of the buffers; nullptr: they are host memory
    Buffers const* host = nullptr;         // images of the buffers in host memory, for the method `staged`
    Idle idle;
};

/// The steps of a plan in an order in which every rank may come to those that its groups do together.
[[nodiscard]] std::vector<StepId> collective_order(Plan const& plan);

/// By step. Collective.
[[nodiscard]] std::vector<PreparedCall> compile_plan(PlanInputs const& inputs);

}  // namespace dlmb::mpi

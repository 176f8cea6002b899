// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan's steps to tasks. Cold: runs in compile().
#pragma once

#include "common/backends/mpi/native_translator.hpp"
#include "common/backends/mpi/task.hpp"

namespace dlmb::mpi {

/// Where the payload of a plan is.
struct Place {
    Buffers const& buffers;
    DeviceQueues const* queues = nullptr;  // of their device; nullptr: the buffers are on the host
    Buffers const* host = nullptr;         // their images there, when the native calls are to see those
    Idle idle;
};

/// The steps of a plan in an order in which every rank may come to those that its groups do together.
[[nodiscard]] std::vector<StepId> collective_order(Plan const& plan);

/// Tasks by step. Collective; the communicators are prepared for the plan.
[[nodiscard]] std::vector<Task> translate(TranslatedPlan const& shared, Place const& place);

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a step of a plan becomes.
#pragma once

#include "common/backends/mpi/busy.hpp"
#include "common/backends/mpi/native_task.hpp"
#include "common/backends/mpi/staged.hpp"

#include <variant>

namespace dlmb::mpi {

/// start(), then wait(): the step alone. start(), then test() until true: the step among others. A task
/// that blocks() does so in start(), and is complete then.
using Task = std::variant<Alltoall, Alltoallv, LargeAlltoallv, IsendIrecv, Pairwise, Neighbor, Persistent, Collective,
                          Staged, Busy, DeviceBusy>;

/// The alternatives lie flat in Task, so that an iteration chooses once per step.
[[nodiscard]] inline Task as_task(NativeTask native) {
    return std::visit([](auto& task) -> Task { return std::move(task); }, native);
}

}  // namespace dlmb::mpi

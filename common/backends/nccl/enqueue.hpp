// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Prepared calls on their way to a stream.
#pragma once

#include "common/backend_kit/device_compute.hpp"
#include "common/backends/nccl/calls.hpp"

#include <functional>

namespace dlmb::nccl {

/// What the host does now and then while NCCL connects ranks, which may take a peer that is late. May throw.
using Meanwhile = std::function<void()>;

/// Each returns when the device will do the work without the host. Throws Error.
void enqueue(GroupedCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
void enqueue(AllToAllCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
void enqueue(AllGatherCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
void enqueue(BroadcastCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
void enqueue(AllReduceCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
void enqueue(ReduceScatterCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile);
inline void enqueue(DeviceCompute const& compute, DeviceQueue const& queue, Meanwhile const& /*meanwhile*/) {
    compute.start(queue);
}

// alltoall_native.cpp or alltoall_absent.cpp; CMake picks one.
/// Why ncclAlltoAll cannot be called; nullptr when it can.
[[nodiscard]] char const* all_to_all_missing();
/// ncclAlltoAll, or an Error where the library is older than 2.28.
void all_to_all(AllToAllCall const& call, cudaStream_t stream);

}  // namespace dlmb::nccl

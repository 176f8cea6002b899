// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// host_reduce for memory of the device: the same results, byte for byte.
#pragma once

#include "common/memory/device_queue.hpp"
#include "common/plan/plan.hpp"

namespace dlmb {

/// to[i] = left[i] (reduction) right[i] over whole elements, queued. `to` may be one of the operands. Any alignment.
/// Throws Error in a build without CUDA.
void device_reduce(DeviceQueue const& queue, std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes,
                   Element element, Reduction reduction);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions on a device: reducing, and writing and checking the numbers of the payload. Without CUDA
// device_work_absent.cpp defines it.
#pragma once

#include "common/backend_kit/reduction_payload.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/memory_space.hpp"

#include <optional>

namespace dlmb {

/// to[i] = left[i] (reduction) right[i] over whole elements, queued. `to` may be one of the operands. Any alignment.
/// Throws Error in a build without CUDA.
void device_reduce(DeviceQueue const& queue, std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes,
                   Element element, Reduction reduction);

/// Queues the writing of `elements` elements at `data`, device memory of any alignment: payload.input() of `member`
/// from element `first` on. Throws Error.
void device_reduction_input(DeviceQueue const& queue, std::byte* data, Bytes elements, ReductionPayload const& payload,
                            PayloadKey key, int member, std::uint64_t first);

class DeviceReductionCheck {
public:
    DeviceReductionCheck();  // throws Error where there is no device

    /// The first of `elements` elements at `data`, device memory of any alignment, that is not payload.result() from
    /// element `first` on.
    [[nodiscard]] std::optional<Bytes> first_wrong(std::byte const* data, Bytes elements,
                                                   ReductionPayload const& payload, PayloadKey key,
                                                   std::uint64_t first);

private:
    DeviceQueue queue_;
    Allocation first_wrong_;
};

}  // namespace dlmb

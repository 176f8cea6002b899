// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What this rank contributes to a reduction, written by the device.
#pragma once

#include "common/backend_kit/reduction_payload.hpp"
#include "common/memory/device_queue.hpp"

namespace dlmb {

/// Queues the writing of `elements` elements at `data`, device memory of any alignment: payload.input() of `member`
/// from element `first` on. Throws Error.
void device_reduction_input(DeviceQueue const& queue, std::byte* data, Bytes elements, ReductionPayload const& payload,
                            PayloadKey key, int member, std::uint64_t first);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies and reductions on this rank's own memory. On the host in pieces: between two of them peers get progress from
// this rank. On the device in one, beside the host.
#pragma once

#include "common/memory/device_queue.hpp"
#include "common/plan/plan.hpp"

namespace dlmb::ucx {

/// to = left, or to = left (reduction) right where there is a right operand.
struct LocalWork {
    std::byte* to = nullptr;
    std::byte const* left = nullptr;
    std::byte const* right = nullptr;
    Bytes bytes = 0;
    Element element = Element::byte;
    Reduction reduction = Reduction::sum;
    bool past_caches = false;  // of a copy on the host: what it writes does not belong into this core's caches
};

/// Host memory: does the next piece of `work`, of which `done` bytes are done. True: that was the last.
[[nodiscard]] bool do_piece(LocalWork const& work, Bytes& done);

/// Memory of the device.
void queue_work(DeviceQueue const& queue, LocalWork const& work);

}  // namespace dlmb::ucx

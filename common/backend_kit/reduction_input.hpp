// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What this rank contributes to a reduction is generated where it lies: on the device by the device.
#pragma once

#include "common/backend_kit/reduction_payload.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/memory_space.hpp"

#include <memory>

namespace dlmb {

class ReductionInput {
public:
    /// `memory` is kept.
    explicit ReductionInput(MemorySpace& memory) : memory_(memory) {}

    /// Writes payload.input() of `member`, from element `first` on, to `elements` elements at `data` in `memory`. They
    /// are there when it returns.
    void fill(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key, int member,
              std::uint64_t first);

private:
    void fill_from_host(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key, int member,
                        std::uint64_t first);

    MemorySpace& memory_;
    std::unique_ptr<DeviceQueue> queue_;  // made when it is first needed
};

}  // namespace dlmb

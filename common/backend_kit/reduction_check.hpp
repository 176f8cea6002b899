// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A reduction's result is compared where it lies: on the device by the device, and eight bytes come back.
#pragma once

#include "common/backend_kit/device_reduction_check.hpp"
#include "common/memory/memory_space.hpp"

namespace dlmb {

class ReductionCheck {
public:
    /// `memory` is kept.
    explicit ReductionCheck(MemorySpace& memory) : memory_(memory) {}

    /// The first of `elements` elements at `data`, in `memory`, that is not what payload.result() says from element
    /// `first` on.
    [[nodiscard]] std::optional<Bytes> first_wrong(std::byte const* data, Bytes elements,
                                                   ReductionPayload const& payload, PayloadKey key,
                                                   std::uint64_t first);

private:
    [[nodiscard]] std::optional<Bytes> first_wrong_on_host(std::byte const* data, Bytes elements,
                                                           ReductionPayload const& payload, PayloadKey key,
                                                           std::uint64_t first);

    MemorySpace& memory_;
    std::unique_ptr<DeviceReductionCheck> device_;  // made when it is first needed
};

}  // namespace dlmb

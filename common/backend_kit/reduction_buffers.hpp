// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the operands of reductions into memory of any kind, and checks results there.
#pragma once

#include "common/backend_kit/device_reduction.hpp"
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

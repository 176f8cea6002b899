// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The buffers of a cell, several times over: one allocation per buffer of the plans, cut into slots of equal size, so
// that small slots do not each cost a huge page.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <span>
#include <vector>

namespace dlmb::measure {

/// Slots begin on pages: what libraries register begins there, and NCCL's windows have to.
inline constexpr Bytes slot_alignment = 4096;

/// Bytes from one slot to the next in the allocation of a buffer of `bytes`.
[[nodiscard]] constexpr Bytes slot_stride(Bytes bytes) {
    return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
}

/// Bytes of each buffer, the largest over the draws.
[[nodiscard]] std::vector<Bytes> buffer_sizes(std::span<Plan const> plans);

class BufferPool {
public:
    /// Throws Error when there is not enough memory. `sizes`: bytes of each buffer.
    BufferPool(MemorySpace& memory, std::span<Bytes const> sizes, std::uint64_t slots);

    [[nodiscard]] std::span<Buffers const> slots() const { return slots_; }
    [[nodiscard]] std::span<Allocation const> allocations() const { return allocations_; }

private:
    std::vector<Allocation> allocations_;
    std::vector<Buffers> slots_;
};

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The buffers of the cells of one point, several times over: one allocation per buffer of the plans, cut into slots of
// equal size, so that small slots do not each cost a huge page. Also what lies in them while iterations are timed, and
// the memory that flushes the caches between samples.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/buffers/cache_use.hpp"
#include "common/memory/memory_space.hpp"

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

/// By the rank that owns them, so that their pages lie near it: every byte of every slot is written. Memory never
/// written is one shared page of zeros to the kernel, and sending it costs less than sending data.
/// random: what position p sends is payload; its reductions get numbers, because other bytes may stand for ones that
/// processors are slow with.
void fill_slots(MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans, Fill fill);

class CacheFlush {
public:
    /// Memory of twice the cache, of the same kind as the payload's: a device's is swept by the device. `memory` must
    /// outlive it. Throws Error when there is not enough.
    CacheFlush(MemorySpace& memory, Bytes cache_bytes);

    /// This rank's caches. Takes about as long as reading so much memory.
    void sweep();
    [[nodiscard]] Bytes bytes() const { return swept_.bytes(); }
    [[nodiscard]] static constexpr Bytes bytes_for(Bytes cache_bytes) { return 2 * cache_bytes; }

private:
    MemorySpace& memory_;
    Allocation swept_;
};

}  // namespace dlmb::measure

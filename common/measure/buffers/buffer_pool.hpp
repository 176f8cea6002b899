// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The buffers of the cells of one point, several times over: one allocation per buffer of the plans, cut into slots of
// equal size, so that small slots do not each cost a huge page. How many slots iterations take in turn, what lies in
// them while iterations are timed, and the memory that flushes the caches between samples.
//
// Position p of a pass runs draw p mod (draws) in slot p mod (slots); a pass is as long as it takes to end where it
// began.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/formats/record/cell_identity.hpp"
#include "common/memory/memory_space.hpp"

#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::measure {

/// The slots together are to be this many times the cache.
inline constexpr std::uint64_t caches_in_pool = 3;
/// A slot costs a compiled plan and a check.
inline constexpr std::uint64_t most_slots = 32;
/// The slots of buffers so small that `most_slots` would not fill the cache once: they stay in it in any case, and more
/// slots would cost set-up time only.
inline constexpr std::uint64_t few_slots = 4;
/// In the compiled plans of one cell together.
inline constexpr std::uint64_t most_compiled_steps = 16384;
/// Largest pool of one rank.
inline constexpr Bytes most_pool_bytes = Bytes{2} << 30;

/// That make the pool `caches_in_pool` times `cache_bytes` (0: unknown, a large one is assumed), within the limits
/// above for a plan of `steps` steps; 1 where one slot is large enough by itself.
[[nodiscard]] std::uint64_t slots_wanted(Bytes slot_bytes, Bytes cache_bytes, std::uint64_t steps);

/// Slots of `slot_bytes` in a pool of a rank that may use `share_bytes` of memory; at least 1.
[[nodiscard]] std::uint64_t slots_affordable(Bytes slot_bytes, Bytes share_bytes);

/// `wanted` rounded so that a pass is short: up where `affordable`, else down. More than one whenever both are.
[[nodiscard]] std::uint64_t slots_for(std::uint64_t wanted, std::uint64_t affordable, std::uint64_t draws);

/// Positions of a pass: the least common multiple, so that every pass has the same mix of both.
[[nodiscard]] constexpr std::uint64_t positions_of(std::uint64_t draws, std::uint64_t slots) {
    return std::lcm(draws, slots);
}

/// Slots begin on pages: what libraries register begins there, and NCCL's windows have to.
inline constexpr Bytes slot_alignment = 4096;

/// Bytes from one slot to the next in the allocation of a buffer of `bytes`.
[[nodiscard]] constexpr Bytes slot_stride(Bytes bytes) {
    return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
}

/// Bytes of each buffer, the largest over the draws.
[[nodiscard]] std::vector<Bytes> buffer_sizes(std::span<Plan const> plans);
/// Collective. The same as they are allocated in memory of this kind: in that of NCCL, whose windows are alike on all
/// ranks, every rank has as many, each of the largest size that any rank needs of that number.
[[nodiscard]] std::vector<Bytes> allocated_sizes(Bootstrap& bootstrap, MemoryKind memory, std::span<Plan const> plans);

/// Bytes of each buffer before the first that a step may write; 0 where nothing is delivered.
[[nodiscard]] std::vector<Bytes> buffer_leads(Plan const& plan);

class BufferPool {
public:
    /// Throws Error when there is not enough memory. `sizes`: bytes of each buffer. `leads`: of these the untouched
    /// ones before its first region; none given: 0. But in memory `nccl` that region begins on a page instead of the
    /// buffer, as a program's own would: what touches a page or a cache line more takes longer.
    BufferPool(MemorySpace& memory, std::span<Bytes const> sizes, std::uint64_t slots,
               std::span<Bytes const> leads = {});

    [[nodiscard]] std::span<Buffers const> slots() const { return slots_; }
    [[nodiscard]] std::span<Allocation const> allocations() const { return allocations_; }

private:
    std::vector<Allocation> allocations_;
    std::vector<Buffers> slots_;
};

/// By the rank that owns them, so that their pages lie near it: every byte of every slot is written. Memory never
/// written is one shared page of zeros to the kernel, and sending it costs less than sending data.
/// random: what position p sends is payload; its reductions get numbers, because other bytes may stand for ones that
/// processors are slow with. `each` is called after each buffer and each payload.
void fill_slots(
    MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans, record::Fill fill,
    std::function<void()> const& each = [] {});

class CacheFlush {
public:
    /// Memory of twice the cache, of the same kind as the payload's: a device's is swept by the device. `memory` must
    /// outlive it. Throws Error when there is not enough.
    CacheFlush(MemorySpace& memory, Bytes cache_bytes);

    /// This rank's caches. Takes about as long as reading so much memory.
    void sweep();
    [[nodiscard]] static constexpr Bytes bytes_for(Bytes cache_bytes) { return 2 * cache_bytes; }

private:
    MemorySpace& memory_;
    Allocation swept_;
};

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffers/buffer_pool.hpp"

#include "common/backend_kit/plan_payload.hpp"
#include "common/base/error.hpp"
#include "common/measure/buffers/rotation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace dlmb::measure {

std::vector<Bytes> buffer_sizes(std::span<Plan const> plans) {
    std::vector<Bytes> sizes;
    for (Plan const& plan : plans) {
        sizes.resize(std::max(sizes.size(), plan.buffers.size()));
        for (std::size_t id = 0; id < plan.buffers.size(); ++id) {
            sizes[id] = std::max(sizes[id], plan.buffers[id].bytes);
        }
    }
    return sizes;
}

BufferPool::BufferPool(MemorySpace& memory, std::span<Bytes const> sizes, std::uint64_t slots)
    : slots_(slots, {memory.kind(), {}}) {
    for (Bytes const size : sizes) {
        // One slot takes what it needs: rounding up would only move the end of what a faulty transport may overrun.
        Bytes const bytes = slots == 1 ? size : slots * slot_stride(size);
        std::byte* base = allocations_.emplace_back(memory.allocate(bytes)).data();
        for (Buffers& slot : slots_) {
            slot.base.push_back(base);
            base += size == 0 ? 0 : slot_stride(size);
        }
    }
}

namespace {

/// No checked iteration has this number.
constexpr std::uint32_t timed_iterations = std::numeric_limits<std::uint32_t>::max();
constexpr Bytes piece_bytes = Bytes{1} << 20;

void fill_zeros(MemorySpace& memory, std::byte* data, Bytes bytes) {
    std::vector<std::byte> const zeros(std::min(piece_bytes, bytes));
    for (Bytes done = 0; done < bytes; done += zeros.size()) {
        memory.copy_in(data + done, zeros.data(), std::min<Bytes>(zeros.size(), bytes - done));
    }
}

}  // namespace

void fill_slots(MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans, Fill fill) {
    std::vector<Bytes> const sizes = buffer_sizes(plans);
    for (Buffers const& slot : slots) {
        for (std::size_t id = 0; id < sizes.size(); ++id) {
            if (fill == Fill::zeros) {
                fill_zeros(memory, slot.base.at(id), sizes[id]);
            } else {
                memory.fill(slot.base.at(id), sizes[id], guard_key);
            }
        }
    }
    std::uint64_t const positions = fill == Fill::zeros ? 0 : positions_of(plans.size(), slots.size());
    for (std::uint64_t position = 0; position < positions; ++position) {
        PlanPayload(memory, slots[position % slots.size()], plans[position % plans.size()]).prepare(timed_iterations);
    }
}

CacheFlush::CacheFlush(MemorySpace& memory, Bytes cache_bytes)
    : memory_(memory), swept_(memory.allocate(bytes_for(cache_bytes))) {
    memory_.fill(swept_.data(), swept_.bytes(), guard_key);
}

void CacheFlush::sweep() {
    if (auto const wrong = memory_.check(swept_.data(), swept_.bytes(), guard_key)) {
        throw Error(fmt::format("byte {} of the memory that flushes the caches was overwritten", wrong->offset));
    }
}

}  // namespace dlmb::measure

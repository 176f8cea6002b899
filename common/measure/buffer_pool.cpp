// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffer_pool.hpp"

#include <algorithm>

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

}  // namespace dlmb::measure

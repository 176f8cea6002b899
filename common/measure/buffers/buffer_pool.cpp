// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffers/buffer_pool.hpp"

#include "common/backend_kit/payload_layout.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/memory/zeros.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr Bytes assumed_cache_bytes = Bytes{64} << 20;
/// No checked iteration has this number.
constexpr std::uint32_t timed_iterations = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::uint64_t slots_wanted(Bytes slot_bytes, Bytes cache_bytes, std::uint64_t steps) {
    if (slot_bytes == 0) {
        return 1;
    }
    Bytes const cache = cache_bytes == 0 ? assumed_cache_bytes : cache_bytes;
    std::uint64_t const sensible = slot_bytes < cache / most_slots ? few_slots : most_slots;
    std::uint64_t const compiled = std::max<std::uint64_t>(1, most_compiled_steps / std::max<std::uint64_t>(1, steps));
    std::uint64_t const covering = (caches_in_pool * cache + slot_bytes - 1) / slot_bytes;
    return std::min({covering, sensible, compiled});
}

std::uint64_t slots_affordable(Bytes slot_bytes, Bytes share_bytes) {
    return std::max<std::uint64_t>(1, std::min(share_bytes, most_pool_bytes) / std::max<Bytes>(1, slot_bytes));
}

// Two passes over the draws are short enough; with two slots there is always such a pass.
std::uint64_t slots_for(std::uint64_t wanted, std::uint64_t affordable, std::uint64_t draws) {
    auto const short_pass = [draws](std::uint64_t slots) {
        return positions_of(draws, slots) <= std::max(2 * draws, slots);
    };
    for (std::uint64_t slots = wanted; slots < wanted + draws && slots <= affordable; ++slots) {
        if (short_pass(slots)) {
            return slots;
        }
    }
    std::uint64_t slots = std::min(wanted, affordable);
    while (!short_pass(slots)) {
        --slots;
    }
    return slots;
}

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

std::vector<Bytes> allocated_sizes(Bootstrap& bootstrap, MemoryKind memory, std::span<Plan const> plans) {
    std::vector<Bytes> sizes = buffer_sizes(plans);
    if (memory != MemoryKind::nccl) {
        return sizes;
    }
    auto const count = reduce_over_ranks(bootstrap, static_cast<std::int64_t>(sizes.size()), Fold::max);
    std::vector<std::int64_t> most(sizes.begin(), sizes.end());
    most.resize(static_cast<std::size_t>(count));
    bootstrap.all_reduce(most, Fold::max);
    return {most.begin(), most.end()};
}

std::vector<Bytes> buffer_leads(Plan const& plan) {
    std::vector<Bytes> leads(plan.buffers.size());
    PayloadLayout const layout = payload_layout(plan);
    for (Gap const& gap : layout.gaps) {
        if (gap.offset == 0 && gap.behind != nullptr) {
            leads[gap.buffer] = gap.bytes;
        }
    }
    return leads;
}

BufferPool::BufferPool(MemorySpace& memory, std::span<Bytes const> sizes, std::uint64_t slots,
                       std::span<Bytes const> leads)
    : slots_(slots, {memory.kind(), {}}) {
    for (std::size_t id = 0; id < sizes.size(); ++id) {
        Bytes const size = sizes[id];
        bool const may_shift = id < leads.size() && memory.kind() != MemoryKind::nccl;  // where windows begin on pages
        Bytes const lead = may_shift ? leads[id] % slot_alignment : 0;
        Bytes const first = size == 0 || lead == 0 ? 0 : slot_alignment - lead;
        // One slot takes what it needs: rounding up would only move the end of what a faulty transport may overrun.
        Bytes const bytes = first + (slots == 1 ? size : slots * slot_stride(size));
        std::byte* base = allocations_.emplace_back(memory.allocate(bytes)).data() + first;
        for (Buffers& slot : slots_) {
            slot.base.push_back(base);
            base += size == 0 ? 0 : slot_stride(size);
        }
    }
}

void fill_slots(MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans, record::Fill fill,
                std::function<void()> const& each) {
    std::vector<Bytes> const sizes = buffer_sizes(plans);
    for (Buffers const& slot : slots) {
        for (std::size_t id = 0; id < sizes.size(); ++id) {
            if (fill == record::Fill::zeros) {
                fill_zeros(memory, slot.base.at(id), sizes[id]);
            } else {
                memory.fill(slot.base.at(id), sizes[id], guard_key);
            }
            each();
        }
    }
    std::uint64_t const positions = fill == record::Fill::zeros ? 0 : positions_of(plans.size(), slots.size());
    for (std::uint64_t position = 0; position < positions; ++position) {
        PlanPayload(memory, slots[position % slots.size()], plans[position % plans.size()]).prepare(timed_iterations);
        each();
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/slot_fill.hpp"

#include "common/backend_kit/plan_payload.hpp"
#include "common/measure/buffer_pool.hpp"
#include "common/measure/rotation.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
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

}  // namespace dlmb::measure

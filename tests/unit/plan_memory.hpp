// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory for the buffers of a plan, and the group of all ranks.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dlmb {

struct PlanMemory {
    PlanMemory(MemorySpace& space, Plan const& plan) : buffers{space.kind(), {}} {
        for (Buffer const& buffer : plan.buffers) {
            buffers.base.push_back(allocations.emplace_back(space.allocate(std::max<Bytes>(buffer.bytes, 1))).data());
        }
    }

    std::vector<Allocation> allocations;
    Buffers buffers;
};

inline Group world_of(int ranks) {
    Group world{std::vector<Rank>(static_cast<std::size_t>(ranks))};
    std::iota(world.members.begin(), world.members.end(), 0);
    return world;
}

}  // namespace dlmb

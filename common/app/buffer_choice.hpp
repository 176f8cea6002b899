// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory the buffers of a point take: how many slots, and whether the machine has so much. Only the point and
// the machine decide, never what else is measured.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/measure/buffers/cache_use.hpp"
#include "common/memory/throttling.hpp"
#include "common/plan/plan.hpp"
#include "common/record/environment.hpp"
#include "common/record/record.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::app {

/// What this rank's buffers lie in.
struct Machine {
    record::DeviceUse const& device;  // of this rank
    Throttling const* throttling;     // of that device; nullptr: there is none
    bool shared_gpu = false;          // with other ranks of the node
    Bytes host_cache = 0;             // largest of a processor on any node; 0: unknown
    std::vector<int> numa_nodes;      // of the processing units that this rank may run on
};

struct BufferChoice {
    std::string why_not;    // not even one slot fits: reason for a skipped record; empty otherwise
    measure::CacheUse use;  // without it
    bool shrunk = false;    // to what there is memory for
    Bytes pool_limit = 0;   // what pools may take on any rank
};

/// Collective, the same on all ranks. Where memory is little the pool shrinks: a quarter of a rank's share of what is
/// free at most, but always one slot.
[[nodiscard]] BufferChoice choose_buffers(Bootstrap& bootstrap, Machine const& machine, measure::CacheMode mode,
                                          MemoryKind memory, std::span<Plan const> plans);

/// Collective. Where the touched pages of these allocations lie; nothing for memory without pages on the host.
[[nodiscard]] std::optional<record::HostPages>
look_at_pages(Bootstrap& bootstrap, Machine const& machine, MemoryKind memory, std::span<Allocation const> allocations);

}  // namespace dlmb::app

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory the buffers of a point take, where its pages lie, and what fits beside it. The point and the machine
// decide how much it is, never what else is measured.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/record/record.hpp"
#include "common/measure/environment/capture.hpp"
#include "common/memory/memory_space.hpp"
#include "common/memory/throttling.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::run {

/// The memory and processors that this rank uses.
struct RankHardware {
    measure::DeviceUse const& device;  // of this rank
    Throttling const* throttling;      // of that device; nullptr: there is none
    bool shared_gpu = false;           // with other ranks of the node
    Bytes host_cache = 0;              // largest of a processor on any node; 0: unknown
    std::vector<int> numa_nodes;       // of the processing units that this rank may run on
};

/// How often the buffers of a point lie in memory.
struct BufferChoice {
    std::string why_not;   // not even one slot fits: reason for a skipped record; empty otherwise
    record::CacheUse use;  // without it
    bool shrunk = false;   // to what there is memory for
    Bytes pool_limit = 0;  // what pools may take on any rank
};

/// The memory and steps of points, the most of any rank. All ranks must decide alike, so it is the same on all.
struct PointUse {
    Bytes pools = 0;
    std::uint64_t compiled_steps = 0;  // of all cells and positions: backends number them
};

/// The memory that was free before the first point of a batch.
struct PointLimits {
    Bytes pool_limit = 0;  // what the buffers of one point may take
    Bytes host_free = 0;   // on the node with the least; 0: unknown there
};

/// UCX tags tell 2^20 operations apart that are compiled at one time.
inline constexpr std::uint64_t most_steps_of_a_batch = std::uint64_t{1} << 18U;

/// Whether a point can be held ready beside others, so that its buffers are those that it would have alone and enough
/// is left for what backends need. `host_free_now`: with `ready` in place, on the node with the least.
[[nodiscard]] bool fits_beside(PointUse const& ready, PointUse const& next, PointLimits const& limits,
                               Bytes host_free_now);

/// Not known of it: how much memory libraries hold there.
[[nodiscard]] bool has_device_pages(MemoryKind memory);

/// Collective, the same on all ranks. Where memory is little the pool shrinks: a quarter of a rank's share of what is
/// free at most, but always one slot. `limit`: bytes per rank.
[[nodiscard]] BufferChoice choose_buffers(Bootstrap& bootstrap, RankHardware const& hardware, record::CacheMode mode,
                                          MemoryKind memory, Bytes limit, std::span<Plan const> plans);

/// Collective. Where the touched pages of these allocations lie; nothing for memory without pages on the host.
[[nodiscard]] std::optional<record::HostPages> locate_pages(Bootstrap& bootstrap, RankHardware const& hardware,
                                                            MemoryKind memory, std::span<Allocation const> allocations);

/// Collective. With `cells` cells of that point.
[[nodiscard]] PointUse use_of(Bootstrap& bootstrap, std::span<Plan const> plans, BufferChoice const& choice,
                              std::size_t cells);

/// Collective. Free on the node with the least.
[[nodiscard]] Bytes least_host_free(Bootstrap& bootstrap);

}  // namespace dlmb::run

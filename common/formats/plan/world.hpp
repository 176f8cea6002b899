// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many ranks there are and how they sit on nodes. Parallel sizes (tp, ep ...) are pattern parameters; the one
// mapping from them to ranks is here so that all patterns share it.
#pragma once

#include "common/base/units.hpp"
#include "common/formats/plan/plan.hpp"

namespace dlmb {

struct WorldShape {
    int ranks = 1;
    int ranks_per_node = 1;  // ranks are placed on nodes in blocks; 0: the launch has no such regular layout

    [[nodiscard]] int node_of(Rank rank) const { return ranks_per_node > 0 ? rank / ranks_per_node : 0; }
    bool operator==(WorldShape const&) const = default;
};

/// A file that names more ranks is taken for damaged.
inline constexpr int most_recorded_ranks = 1 << 17;

/// The `size` consecutive ranks that `rank` belongs to when the world is cut into such groups
/// (Megatron's order: tensor, expert, data, pipeline, fastest first).
[[nodiscard]] Group consecutive_group(WorldShape const& world, Rank rank, int size);

/// The ranks that differ from `rank` only in the coordinate of one dimension of that order: `size` ranks, `stride` (the
/// product of the faster dimensions) apart, inside blocks of size * stride ranks. With stride 1: consecutive_group.
[[nodiscard]] Group strided_group(WorldShape const& world, Rank rank, int size, int stride);

}  // namespace dlmb

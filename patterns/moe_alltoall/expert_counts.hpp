// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one source's routing of one layer sends where, counted in every way that a wire model may need. O(experts + ep).
#pragma once

#include "patterns/moe_alltoall/routing.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::moe_alltoall {

struct ExpertCounts {
    std::vector<std::uint64_t> expert_rows;  // per expert: tokens that chose it
    std::vector<std::uint64_t> rank_tokens;  // per group rank: tokens with at least one expert there
    std::vector<std::uint64_t> node_tokens;  // per node of the group: the same
};

/// Counts tokens by expert, by destination rank and by destination node.
class ExpertCounter {
public:
    ExpertCounter(Params const& params, WorldShape const& world, Rank source);
    [[nodiscard]] ExpertCounts count(Routing const& routing, Draw draw, std::uint32_t layer);

private:
    Params const& params_;
    Rank source_;
    std::vector<std::size_t> owner_of_expert_;
    std::vector<std::size_t> node_of_rank_;  // of the group, from 0
};

/// Rows that the source sends to each rank of its group when every destination rank is served directly.
[[nodiscard]] std::vector<std::uint64_t> rows_to_ranks(Params const& params, ExpertCounts const& counts);

/// Choices that padded routing drops because an expert's slots for this source are full.
[[nodiscard]] std::uint64_t dropped(Params const& params, ExpertCounts const& counts);

}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rows that one source's routing of one layer sends to each peer, and the hops of a dispatch. One hop for the
// direct wire models; two when node_dedup relays: first to the rank with the same place on the destination node, then
// from that relay to the ranks of its node.
#pragma once

#include "patterns/moe_alltoall/expert_placement.hpp"
#include "patterns/moe_alltoall/low_latency.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/routing.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::moe_alltoall {

/// One source's routing of one layer, counted in every way that a wire model may need.
struct ExpertCounts {
    std::vector<std::uint64_t> expert_rows;  // per expert: tokens that chose it
    std::vector<std::uint64_t> rank_rows;    // per group rank: choices of an expert there
    std::vector<std::uint64_t> rank_slots;   // per group rank: experts there
    std::vector<std::uint64_t> rank_tokens;  // per group rank: tokens with at least one expert there
    std::vector<std::uint64_t> node_tokens;  // per node of the group: the same
    RowsOfExperts held_rows;                 // of low_latency: rank_rows by expert there; else empty
};

[[nodiscard]] ExpertCounts count_experts(Params const& params, WorldShape const& world, Routing const& routing,
                                         Rank source, Draw draw, std::uint32_t layer);

/// Rows that the source sends to each rank of its group when every destination rank is served directly.
[[nodiscard]] std::vector<std::uint64_t> rows_to_ranks(Params const& params, ExpertCounts const& counts);

/// Choices that padded routing drops because an expert's slots for this source are full.
[[nodiscard]] std::uint64_t dropped(Params const& params, ExpertCounts const& counts);

struct Hop {
    std::string_view name;  // "", "node" or "rank": the part of the label after the phase
    Group group;
    std::vector<std::uint64_t> send;  // rows to each rank of `group`
    std::vector<std::uint64_t> recv;
};

/// The counts that one source sends at set-up. For every layer: the rows that the addressee will receive for it, by
/// whatever way; for a relay in addition the rows it is handed and how many of them go to each rank of its node.
[[nodiscard]] std::vector<SetupCounts> counts_to_send(Params const& params, Rank source,
                                                      std::span<ExpertCounts const> layers);

/// Reads them back: the hops of one layer for `me`, from the counts that it sent and received.
[[nodiscard]] std::vector<Hop> hops_of(Params const& params, WorldShape const& world, Rank me, std::uint32_t layer,
                                       std::span<SetupCounts const> own, std::span<SetupCounts const> received_counts);

/// The one hop of padded plans: their sizes follow from the placement.
[[nodiscard]] std::vector<Hop> padded_hops(Params const& params, WorldShape const& world, Rank me,
                                           ExpertPlacement const& placed);

}  // namespace dlmb::moe_alltoall

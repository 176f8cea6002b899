// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The hops of a dispatch, as rows per peer. One hop for the direct wire models; two when node_dedup relays: first to
// the rank with the same place on the destination node, then from that relay to the ranks of its node.
#pragma once

#include "patterns/moe_alltoall/expert_counts.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::moe_alltoall {

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

}  // namespace dlmb::moe_alltoall

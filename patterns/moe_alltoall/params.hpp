// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of moe_alltoall, read strictly and checked against the world: after this, nothing can be wrong. And
// the published formulas for the bytes of one row and the rows of one capacity slot.
#pragma once

#include "common/formats/plan/world.hpp"
#include "common/sizes/skew.hpp"
#include "patterns/moe_alltoall/moving_skew.hpp"
#include "patterns/pattern.hpp"
#include "patterns/placement.hpp"
#include "patterns/readers.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// How token rows become messages; README.md draws them.
enum class Wire { expanded, rank_dedup, node_dedup, padded, low_latency };
enum class GroupScore { best, best_two };

struct CapacityRule {
    std::uint64_t factor = 1'000'000;  // in millionths, so that rounding up is exact
    std::uint64_t min = 4;
};

/// By expert: the ranks of the group that have it.
using ExpertRanks = std::vector<std::vector<std::size_t>>;

struct Params {
    std::uint64_t hidden = 0;
    std::size_t experts = 0;
    std::size_t top_k = 0;
    std::uint64_t tokens = 0;  // per rank
    std::uint32_t layers = 1;
    std::size_t ep = 1;          // ranks that share one set of experts
    std::size_t node_ranks = 1;  // ranks of one expert-parallel group on one node; ep when the group is on one node
    Element element = Element::bf16;  // of rows
    Wire wire = Wire::expanded;
    CapacityRule capacity_rule;
    Skew skew;          // what stays over all draws
    MovingSkew moving;  // and what does not
    Passes direction = Passes::forward;
    std::size_t expert_groups = 1;
    std::size_t group_limit = 1;  // equal to expert_groups: no limit
    GroupScore group_score = GroupScore::best;
    bool probs = false;
    PlacementRule placement;
    PlacementRule placement_before{.kind = PlacementRule::Kind::none};  // what experts move from
    ExpertRanks placement_file{};                                       // of either
    std::size_t redundant_experts = 0;                                  // replicas, of eplb
    std::size_t eplb_nodes = 1;                                         // that a group's ranks are on
    Bytes expert_bytes = 0;                                             // weights of one expert
    std::optional<BlockFormat> dispatch_packing;                        // of rows towards the experts
    std::optional<BlockFormat> combine_packing;                         // and back
    Pack pack = Pack::none;                                             // who sorts rows by expert and back

    [[nodiscard]] std::size_t nodes() const { return ep / node_ranks; }
    /// node_dedup over several nodes; on one node there is nothing to relay.
    [[nodiscard]] bool relayed() const { return wire == Wire::node_dedup && nodes() > 1; }
    [[nodiscard]] bool group_limited() const { return group_limit < expert_groups; }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

/// A token's row on its way to an expert. fp8: one byte per value and one fp32 scale per block of 128 values.
[[nodiscard]] Bytes dispatch_row_bytes(Element element, std::uint64_t hidden);

/// The row on its way back: as dispatched, but bf16 where dispatch was fp8.
[[nodiscard]] Bytes combine_row_bytes(Element element, std::uint64_t hidden);

/// Bytes of the routing probabilities that may travel with a row. A row for one expert has one in fp32. A row for
/// several has those of all choices of its token, and on its way to the experts their numbers: int64, or int32 where
/// rows are handed on between nodes (DeepEP, csrc/kernels/intranode.cu and internode.cu: topk_weights, topk_idx).
[[nodiscard]] Bytes probability_bytes(Params const& params, bool to_experts);

/// Rows per (source rank, expert): max(ceil(tokens / experts * factor * top_k), min), DeepSpeed's rule. Factor 0 makes
/// `min` the fixed capacity; min 0 makes it Megatron's rule.
[[nodiscard]] std::uint64_t capacity(std::uint64_t tokens, std::uint64_t experts, std::uint64_t top_k,
                                     CapacityRule rule);

/// The group rank that owns each expert in placement block; skews speak of these owners, wherever experts are.
[[nodiscard]] std::vector<std::size_t> owners_of_experts(Params const& params);

/// The largest divisor of `ranks` that is not above `experts`.
[[nodiscard]] std::size_t automatic_ep(std::size_t ranks, std::size_t experts);

}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lower bounds of plans on topologies.
#include "common/base/error.hpp"
#include "common/tools/predict/placed_bound.hpp"

#include <gtest/gtest.h>

namespace dlmb::predict {
namespace {

/// Plans of one step each on a group of all ranks; 1 byte per ps, 1000 ps between nodes.
template <class MakeOperation>
Bound bound_of_all(std::string_view text, int ranks, MakeOperation const& make, LoweringChoice const& choice = {}) {
    Topology const topology = parse_topology(text);
    auto const interconnect = interconnect_of(topology);
    Machine machine = uniform_machine({.latency = 1000});
    machine.ranks_per_node = ranks / topology.nodes();
    machine.level(Level::node).front().parameters.latency = 0;
    Group world;
    for (Rank rank = 0; rank < ranks; ++rank) {
        world.members.push_back(rank);
    }
    std::vector<Plan> plans;
    for (Rank rank = 0; rank < ranks; ++rank) {
        plans.push_back({rank, {world}, {}, {{make(rank), {}, "step"}}});
    }
    return bound_of_plans(plans, choice, machine, *interconnect,
                          nodes_of_ranks(*interconnect, Placement::row_major, ranks, machine.ranks_per_node, 0), 1);
}

TEST(PlacedBound, OfAnExchangeIsThatOfItsPairs) {
    // 16 nodes, 1 byte to each other one: what uniform traffic of 15 bytes per node is.
    Bound const by_plans = bound_of_all("torus:4x4", 16, [](Rank me) {
        Exchange exchange;
        for (Rank peer = 0; peer < 16; ++peer) {
            if (peer != me) {
                exchange.send.push_back({peer, 0, 1});
                exchange.recv.push_back({peer, 0, 1});
            }
        }
        return exchange;
    });
    // The busiest of four ports of a quarter each carries 16 / 8 * 4 bytes.
    EXPECT_DOUBLE_EQ(by_plans.link_ps, 4 * 8);
    EXPECT_DOUBLE_EQ(by_plans.link_ps, uniform_loads(*interconnect_of(parse_topology("torus:4x4")), 1).largest());
    EXPECT_DOUBLE_EQ(by_plans.node_ps, 15);
    EXPECT_EQ(by_plans.latency_ps, 1000);
}

TEST(PlacedBound, OfAnAllreduceIsThatOfARingOrOfATreeOfSwitches) {
    auto const allreduce = [](Rank) {
        Collective step{.kind = OperationKind::all_reduce, .element = Element::fp32};
        step.bytes = 1'000'000;
        return step;
    };
    LoweringChoice by;
    by.algorithms[OperationKind::all_reduce] = "ring";
    Bound const ring = bound_of_all("fat-tree:4x4", 16, allreduce, by);
    EXPECT_DOUBLE_EQ(ring.node_ps, 2e6 * 15 / 16);
    EXPECT_DOUBLE_EQ(ring.latency_ps, 2 * 15 * 1000);
    by.algorithms[OperationKind::all_reduce] = "recursive_doubling";
    Bound const doubling = bound_of_all("fat-tree:4x4", 16, allreduce, by);
    by.algorithms[OperationKind::all_reduce] = in_network;
    Bound const tree = bound_of_all("fat-tree:4x4,taper=0.25", 16, allreduce, by);
    EXPECT_DOUBLE_EQ(tree.node_ps, 1e6) << "each host sends and receives the vector once";
    EXPECT_DOUBLE_EQ(tree.link_ps, 1e6) << "a leaf switch sends the sum of its nodes up, which fits a quarter";
    EXPECT_DOUBLE_EQ(tree.latency_ps, 4 * 1000) << "twice the depth";
    Bound const shared = bound_of_all("fat-tree:4x4", 32, allreduce, by);
    EXPECT_DOUBLE_EQ(shared.node_ps, 1e6) << "so does a host of two ranks";
    Bound const alone = bound_of_all("fat-tree:1", 4, allreduce, by);
    EXPECT_EQ(alone.time_ps(), 0) << "ranks of one host need no switch";
    EXPECT_LT(tree.time_ps(), ring.time_ps());
    EXPECT_LT(tree.time_ps(), doubling.time_ps());
    EXPECT_THROW((void)bound_of_all("torus:4x4", 16, allreduce, by), UsageError) << "it has no switches";
}

TEST(PlacedBound, StaysInANodeWhereRanksShareIt) {
    LoweringChoice by_ring;
    by_ring.algorithms[OperationKind::all_gather] = "ring";
    auto const all_gather = [](Rank) {
        Collective step{.kind = OperationKind::all_gather};
        step.bytes = 400;
        return step;
    };
    Bound const bound = bound_of_all("fat-tree:2", 4, all_gather, by_ring);
    EXPECT_DOUBLE_EQ(bound.node_ps, 300) << "of two ranks one has its next rank on the other node";
    EXPECT_DOUBLE_EQ(bound.latency_ps, 2 * 1000) << "of three links in a row two leave their node";
}

TEST(PlacedBound, HasTheSameLatencyWhateverTheRoot) {
    for (Rank const root : {0, 1, 5}) {
        auto const reduce = [root](Rank) {
            Collective step{.kind = OperationKind::reduce, .element = Element::fp32};
            step.bytes = 1000;
            step.root = root;
            return step;
        };
        auto const broadcast = [root](Rank) {
            Collective step{.kind = OperationKind::broadcast};
            step.bytes = 1000;
            step.root = root;
            return step;
        };
        EXPECT_DOUBLE_EQ(bound_of_all("fat-tree:4x4", 16, reduce).latency_ps, 2 * 1000)
            << "a tree of radix 4 has two levels, root " << root;
        EXPECT_DOUBLE_EQ(bound_of_all("fat-tree:4x4", 16, broadcast).latency_ps, 2 * 1000) << "root " << root;
    }
    EXPECT_DOUBLE_EQ(bound_of_all("fat-tree:4x4", 16, [](Rank) { return Barrier{}; }).latency_ps, 4 * 1000);
}

}  // namespace
}  // namespace dlmb::predict

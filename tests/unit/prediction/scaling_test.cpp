// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic of plans on topologies, and topologies of a family for any size.
#include "common/base/error.hpp"
#include "common/tools/predict/network/topology.hpp"
#include "common/tools/predict/scaling.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::predict {
namespace {

constexpr NetworkCosts costs{1, 1000, 0};  // 1 byte per ps, 1000 ps

PlacedTraffic placed_on(std::string_view text, AllreduceBy allreduce = AllreduceBy::messages) {
    Topology const topology = parse_topology(text);
    std::vector<int> nodes(static_cast<std::size_t>(topology.nodes()));
    std::iota(nodes.begin(), nodes.end(), 0);
    return {topology, nodes, costs, allreduce};
}

/// Plans of one step each on a group of all ranks.
template <class MakeOperation>
void add_all(PlacedTraffic& traffic, int ranks, MakeOperation const& make, LoweringChoice const& choice = {}) {
    Group world;
    for (Rank rank = 0; rank < ranks; ++rank) {
        world.members.push_back(rank);
    }
    std::vector<Plan> plans;
    for (Rank rank = 0; rank < ranks; ++rank) {
        plans.push_back({rank, {world}, {}, {{make(rank), {}, "step"}}});
    }
    traffic.add(plans, choice);
}

TEST(PlacedTraffic, OfAnExchangeIsThatOfItsPairs) {
    // 16 nodes, 1 byte to each other one: what uniform traffic of 15 bytes per node is.
    PlacedTraffic by_plans = placed_on("torus:4x4");
    add_all(by_plans, 16, [](Rank me) {
        Exchange exchange;
        for (Rank peer = 0; peer < 16; ++peer) {
            if (peer != me) {
                exchange.send.push_back({peer, 0, 1});
                exchange.recv.push_back({peer, 0, 1});
            }
        }
        return exchange;
    });
    PlacedTraffic uniform = placed_on("torus:4x4");
    uniform.add_uniform(15);
    EXPECT_DOUBLE_EQ(by_plans.bound().link_ps, uniform.bound().link_ps);
    EXPECT_DOUBLE_EQ(by_plans.bound().node_ps, 15);
    EXPECT_EQ(by_plans.bound().latency_ps, 1000);
    // The busiest of four ports of a quarter each carries 16 / 8 * 4 bytes.
    EXPECT_DOUBLE_EQ(uniform.bound().link_ps, 4 * 8);
}

TEST(PlacedTraffic, OfAnAllreduceIsThatOfARingOrOfATree) {
    auto const allreduce = [](Rank) {
        AllReduce step;
        step.bytes = 1'000'000;
        return step;
    };
    PlacedTraffic ring = placed_on("fat-tree:4x4,adaptive");
    LoweringChoice by_ring;
    by_ring.algorithms[OperationKind::all_reduce] = "ring";
    add_all(ring, 16, allreduce, by_ring);
    EXPECT_DOUBLE_EQ(ring.bound().node_ps, 2e6 * 15 / 16);
    EXPECT_DOUBLE_EQ(ring.bound().latency_ps, 2 * 15 * 1000);
    PlacedTraffic tree = placed_on("fat-tree:4x4,taper=0.25,adaptive", AllreduceBy::in_network);
    add_all(tree, 16, allreduce);
    EXPECT_DOUBLE_EQ(tree.bound().node_ps, 1e6);
    EXPECT_DOUBLE_EQ(tree.bound().link_ps, 1e6) << "a leaf switch sends the sum of its nodes up, which fits a quarter";
    EXPECT_DOUBLE_EQ(tree.bound().latency_ps, 4 * 1000) << "twice the depth";
    PlacedTraffic torus = placed_on("torus:4x4", AllreduceBy::in_network);
    EXPECT_EQ(torus.allreduce(), AllreduceBy::messages) << "it has no switches";
}

TEST(PlacedTraffic, StaysInANodeWhereRanksShareIt) {
    PlacedTraffic traffic{parse_topology("fat-tree:2"), {0, 0, 1, 1}, costs, AllreduceBy::messages};
    LoweringChoice by_ring;
    by_ring.algorithms[OperationKind::all_gather] = "ring";
    auto const all_gather = [](Rank) {
        AllGather step;
        step.bytes = 400;
        return step;
    };
    add_all(traffic, 4, all_gather, by_ring);
    EXPECT_DOUBLE_EQ(traffic.bound().node_ps, 300) << "of two ranks one has its next rank on the other node";
    EXPECT_DOUBLE_EQ(traffic.bound().latency_ps, 2 * 1000) << "of three links in a row two leave their node";
}

TEST(PlacedTraffic, HasTheSameLatencyWhateverTheRoot) {
    for (Rank const root : {0, 1, 5}) {
        PlacedTraffic reduce = placed_on("fat-tree:4x4");
        add_all(reduce, 16, [root](Rank) {
            Reduce step;
            step.bytes = 1000;
            step.root = root;
            return step;
        });
        EXPECT_DOUBLE_EQ(reduce.bound().latency_ps, 2 * 1000) << "a tree of radix 4 has two levels, root " << root;
        PlacedTraffic broadcast = placed_on("fat-tree:4x4");
        add_all(broadcast, 16, [root](Rank) {
            Broadcast step;
            step.bytes = 1000;
            step.root = root;
            return step;
        });
        EXPECT_DOUBLE_EQ(broadcast.bound().latency_ps, 2 * 1000) << "root " << root;
    }
    PlacedTraffic barrier = placed_on("fat-tree:4x4");
    add_all(barrier, 16, [](Rank) { return Barrier{}; });
    EXPECT_DOUBLE_EQ(barrier.bound().latency_ps, 4 * 1000);
}

TEST(TopologyFamily, HasAMemberOfEachSizeThatFits) {
    EXPECT_EQ(topology_of_family("torus:2d", 1024).text(), "torus:32x32");
    EXPECT_EQ(topology_of_family("torus:3d", 64).text(), "torus:4x4x4");
    EXPECT_EQ(topology_of_family("torus:3d", 7).text(), "torus:1x1x7");
    EXPECT_EQ(topology_of_family("fat-tree", 1024).text(), "fat-tree:32x32,adaptive");
    EXPECT_EQ(topology_of_family("fat-tree,taper=0.5", 16384).text(), "fat-tree:32x512,taper=0.5,adaptive");
    EXPECT_EQ(topology_of_family("dragonfly", 16384).text(), "dragonfly:8x16x128");
    EXPECT_EQ(topology_of_family("hyperx:2d", 1024).text(), "hyperx:8x8x16");
    EXPECT_EQ(topology_of_family("hamming-mesh:2", 1024).text(), "hamming-mesh:2x16x16");
    EXPECT_EQ(topology_of_family("torus:4x4", 16).text(), "torus:4x4");
    EXPECT_THROW((void)topology_of_family("torus:4x4", 32), UsageError);
    EXPECT_THROW((void)topology_of_family("hamming-mesh:2", 66), UsageError);
    EXPECT_THROW((void)topology_of_family("dragonfly", 1009), UsageError);
    for (std::string_view const text : {"", "torus", "torus:d", "torus:0d", "torus:9d", "ring", "fat-tree:2d",
                                        "hamming-mesh:0", "hamming-mesh:99999"}) {
        EXPECT_THROW((void)topology_of_family(text, 64), UsageError) << text;
    }
}

}  // namespace
}  // namespace dlmb::predict

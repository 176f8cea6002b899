// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Topologies as values, their links and routes, and what follows for traffic: the shares of HammingMesh (Hoefler et al.
// 2022, arXiv:2209.01346).
#include "common/base/error.hpp"
#include "tests/unit/prediction_network/loads_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace dlmb::predict {
namespace {

/// By counting every pair.
LinkLoads counted(Interconnect const& interconnect) {
    LinkLoads loads(interconnect);
    for (int from = 0; from < interconnect.nodes(); ++from) {
        for (int to = 0; to < interconnect.nodes(); ++to) {
            loads.add(from, to, 1);
        }
    }
    return loads;
}

constexpr std::string_view all_kinds[] = {
    "torus:5",
    "torus:4x6",
    "torus:3x4x5",
    "torus:2x2x2",
    "torus:1x7",
    "fat-tree:8",
    "fat-tree:4x6,taper=0.5",
    "fat-tree:4x3x5,taper=0.5",
    "fat-tree:4x3x5,taper=0.25",
    "fat-tree:3x2x2x2",
    "dragonfly:2x4x9",
    "dragonfly:2x4x3",
    "dragonfly:1x4x5",
    "dragonfly:3x5x1",
    "hyperx:3x4",
    "hyperx:2x3x4",
    "hamming-mesh:2x4x4",
    "hamming-mesh:3x4x3",
    "hamming-mesh:1x4x5",
    "hamming-mesh:4x1x2",
    "hamming-mesh:2x4x4,without=1/2",
    "hamming-mesh:2x4x3,without=0/0,without=3/0",
};

class EveryTopology : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryTopology, testing::ValuesIn(all_kinds), [](auto const& test) {
    std::string name(test.param);
    std::replace_if(
        name.begin(), name.end(), [](char letter) { return std::isalnum(letter) == 0; }, '_');
    return name;
});

TEST_P(EveryTopology, IsWrittenAsItIsRead) {
    EXPECT_EQ(parse_topology(GetParam()).text(), GetParam());
    EXPECT_EQ(parse_topology(GetParam()).nodes(), made(GetParam())->nodes());
}

TEST_P(EveryTopology, HasWaysOverLinksThatExistAndCarriesAllOfAMessage) {
    auto const net = made(GetParam());
    auto const nodes = static_cast<LinkId>(net->nodes());
    std::vector<LinkId> route;
    for (int from = 0; from < net->nodes(); ++from) {
        for (int to = 0; to < net->nodes(); ++to) {
            if (from == to) {
                continue;
            }
            net->route(from, to, route);
            std::set<LinkId> seen;
            for (LinkId const link : route) {
                EXPECT_LT(link, net->links());
                EXPECT_GT(net->capacity(link), 0) << from << " to " << to << ": " << net->name(link);
                EXPECT_TRUE(seen.insert(link).second) << net->name(link);
            }
            EXPECT_TRUE(seen.contains(static_cast<LinkId>(from)) && seen.contains(nodes + static_cast<LinkId>(to)));
        }
    }
}

TEST_P(EveryTopology, NamesEachLinkOnce) {
    auto const net = made(GetParam());
    std::set<std::string> names;
    for (LinkId link = 0; link < net->links(); ++link) {
        EXPECT_TRUE(net->capacity(link) == 0 || names.insert(net->name(link)).second) << net->name(link);
    }
}

TEST_P(EveryTopology, HasTheUniformLoadsOfItsSymmetry) {
    auto const net = made(GetParam());
    LinkLoads const by_pairs = counted(*net);
    LinkLoads const by_symmetry = uniform_loads(*net, 1);
    for (LinkId link = 0; link < net->links(); ++link) {
        EXPECT_NEAR(by_pairs.bytes(link), by_symmetry.bytes(link), 1e-9) << net->name(link);
    }
}

TEST_P(EveryTopology, PlacesEachRankOnANodeOfItsOwn) {
    auto const net = made(GetParam());
    for (Placement const placement : {Placement::row_major, Placement::blocked, Placement::random}) {
        std::vector<int> nodes = nodes_of_ranks(*net, placement, net->nodes(), 1, 7);
        EXPECT_EQ(nodes, nodes_of_ranks(*net, placement, net->nodes(), 1, 7));
        std::sort(nodes.begin(), nodes.end());
        for (int node = 0; node < net->nodes(); ++node) {
            EXPECT_EQ(nodes[static_cast<std::size_t>(node)], node);
        }
    }
    EXPECT_THROW((void)nodes_of_ranks(*net, Placement::blocked, net->nodes() + 1, 1, 7), UsageError);
    EXPECT_EQ(nodes_of_ranks(*net, Placement::blocked, 5, 4, 7)[3],
              nodes_of_ranks(*net, Placement::blocked, 1, 1, 7)[0]);
}

TEST(Topology, RefusesWhatHasNoMeaning) {
    for (std::string_view const text : {"",
                                        "torus",
                                        "torus:",
                                        "torus:0",
                                        "torus:4x",
                                        "ring:4",
                                        "torus:4,taper=0.5",
                                        "fat-tree:4x4,taper=0",
                                        "fat-tree:4x4,taper=1.5",
                                        "fat-tree:4x4,taper=nan",
                                        "dragonfly:2x4",
                                        "dragonfly:2x4x9,global=2",
                                        "hyperx:4",
                                        "hamming-mesh:2x4",
                                        "hamming-mesh:2x4x4,without=4/0",
                                        "hamming-mesh:2x4x4,without=1",
                                        "hamming-mesh:2x4x4,without=1/1,without=1/1",
                                        "hamming-mesh:2x1x1,without=0/0",
                                        "torus:1024x1024x2",
                                        "hamming-mesh:1024x32x32",
                                        "torus:4x4,",
                                        "torus:4x4,adaptive"}) {
        EXPECT_THROW((void)parse_topology(text), UsageError) << text;
    }
    EXPECT_THROW((void)made("dragonfly:2x4x10"), UsageError) << "8 links of a group reach 8 other groups";
    EXPECT_THROW((void)interconnect_of(parse_nodes("64")), UsageError) << "the placement is not known";
}

TEST(Topology, RefusesMoreLinksThanAreKept) {
    // 2^32 and 2^48 links; 46341^2 is just above 2^31; of a torus the most nodes are few enough.
    for (std::string_view const text :
         {"hyperx:1x65536", "dragonfly:1x65536x1", "hyperx:1x46341", "hyperx:1x4097", "dragonfly:1x1024x1024"}) {
        EXPECT_THROW((void)made(text), UsageError) << text;
    }
    EXPECT_EQ(made("hyperx:1x4096")->links(), 4096U * 4096U + 2U * 4096U);
    EXPECT_EQ(made("torus:64x64x64x4x1x1x1x1")->links(), (16U + 2U) << 20U);
}

TEST(Topology, IsAsDeepAsTheSwitchesThatReduce) {
    EXPECT_EQ(parse_topology("fat-tree:16x8x8").reduction_depth(), 3);
    EXPECT_EQ(parse_topology("fat-tree:16").reduction_depth(), 1);
    EXPECT_EQ(parse_topology("hyperx:8x8x8").reduction_depth(), 3);
    EXPECT_EQ(parse_topology("dragonfly:4x8x33").reduction_depth(), 4);
    EXPECT_EQ(parse_topology("dragonfly:4x8x1").reduction_depth(), 2);
    EXPECT_EQ(parse_topology("torus:8x8").reduction_depth(), 0);
    EXPECT_EQ(parse_topology("hamming-mesh:2x4x4").reduction_depth(), 0);
}

TEST(Torus, GoesTheShortWayAndNoFurther) {
    auto const net = made("torus:4x6");
    EXPECT_EQ(hops_between(*net, 0, 5), 1);
    EXPECT_EQ(hops_between(*net, 0, 2 * 6 + 3), 5);
}

TEST(Torus, HasOneLinkBetweenTwoNodes) {
    auto const two = made("torus:2");
    LinkLoads const of_two = counted(*two);
    EXPECT_DOUBLE_EQ(of_two.share(), 1);
    EXPECT_DOUBLE_EQ(of_two.mean(), 1) << "the way back around does not exist";
    auto const eight = made("torus:2x2x2");
    EXPECT_DOUBLE_EQ(counted(*eight).share(), 7.0 / 12) << "4 of 7 messages by each of three links";
}

TEST(FatTree, HasLinksUpwardsOfTheJointCapacityThatItsTaperLeaves) {
    auto const net = made("fat-tree:8x4,taper=0.5");
    std::vector<LinkId> route;
    net->route(0, 8, route);
    EXPECT_EQ(net->capacity(route.front()), 4);
    EXPECT_EQ(hops_between(*net, 0, 7), 0);
    EXPECT_EQ(hops_between(*net, 0, 8), 2);
}

TEST(Dragonfly, GoesThroughOneGlobalLink) {
    auto const net = made("dragonfly:2x4x9");
    for (int to = 8; to < net->nodes(); ++to) {
        int const hops = hops_between(*net, 0, to);
        EXPECT_TRUE(hops >= 1 && hops <= 3) << to;
    }
    EXPECT_EQ(hops_between(*net, 0, 7), 1);
    EXPECT_EQ(hops_between(*net, 0, 1), 0);
}

TEST(HyperX, CorrectsEachDimensionInOneStep) {
    EXPECT_EQ(hops_between(*made("hyperx:2x4x5"), 0, 2 * (3 * 5 + 4)), 2);
    EXPECT_EQ(hops_between(*made("hyperx:2x4x5"), 0, 2 * 4), 1);
}

// The table of HammingMesh shares: uniform all-to-all, row then column, four ports per node.

TEST(HammingMeshShares, AreThoseOfTheTable) {
    EXPECT_NEAR(counted(*made("hamming-mesh:2x16x16")).share(), 0.2664, 0.01 * 0.2664);
    EXPECT_NEAR(uniform_loads(*made("hamming-mesh:2x64x64"), 1).share(), 0.2540, 0.01 * 0.2540);
    EXPECT_NEAR(counted(*made("torus:32x32")).share(), 2.0 / 32, 0.01 * 2 / 32);
    EXPECT_NEAR(uniform_loads(*made("torus:128x128"), 1).share(), 2.0 / 128, 0.01 * 2 / 128);
    EXPECT_NEAR(uniform_loads(*made("fat-tree:32x512,taper=0.5"), 1).share(), 0.5, 0.01 * 0.5);
    EXPECT_NEAR(uniform_loads(*made("fat-tree:32x512,taper=0.25"), 1).share(), 0.25, 0.01 * 0.25);
}

TEST(HammingMeshShares, FollowTheFormula) {
    // share = 2a / (4 a^2 f) with f = (A - A/x) / (A - 1), the share of destinations in another board column.
    for (int const side : {1, 2, 3, 4}) {
        for (int const boards : {4, 6}) {
            double const nodes = side * side * boards * boards;
            double const other_column = (nodes - nodes / boards) / (nodes - 1);
            double const expected = 1 / (2 * side * other_column);
            double const share = counted(*made("hamming-mesh:" + std::to_string(side) + "x" + std::to_string(boards) +
                                               "x" + std::to_string(boards)))
                                     .share();
            // From the middle of a board one edge is as near as the other, and routes cannot split messages evenly.
            double const tolerance = side % 2 == 0 ? 0.01 : 0.12;
            EXPECT_NEAR(share, expected, tolerance * expected) << side << " " << boards;
        }
    }
}

TEST(HammingMeshShares, FallWhenABoardIsRemovedAndTheRestStaysConnected) {
    double const whole = counted(*made("hamming-mesh:2x16x16")).share();
    double const without = counted(*made("hamming-mesh:2x16x16,without=3/5")).share();
    EXPECT_LT(without, whole);
    EXPECT_GT(without, 0.98 * whole);
    EXPECT_THROW((void)made("hamming-mesh:2x4x4,without=0/0,without=1/1"), UsageError)
        << "boards 0/1 and 1/0 have no route of one turn";
}

/// Two edge-disjoint Hamiltonian cycles of a k x k torus, each both ways (Bose et al. 1995): four rings that a
/// HammingMesh of k x k nodes embeds, as its switches close each line of nodes to a ring. (column, row) in order.
std::vector<std::vector<std::array<int, 2>>> rings_of_torus(int extent) {
    std::vector<std::vector<std::array<int, 2>>> rings(4);
    for (int high = 0; high < extent; ++high) {
        for (int low = 0; low < extent; ++low) {
            int const turned = (low - high + extent) % extent;
            rings[0].push_back({turned, high});
            rings[1].push_back({high, turned});
        }
    }
    rings[2].assign(rings[0].rbegin(), rings[0].rend());
    rings[3].assign(rings[1].rbegin(), rings[1].rend());
    return rings;
}

TEST(HammingMeshShares, OfAnAllreduceOnTwoHamiltonianCyclesIsOneWhereverRanksAreInTheirBoards) {
    auto const made_net = made("hamming-mesh:2x8x8");
    Interconnect const& net = *made_net;
    auto const by_rows = net.order(Placement::row_major);
    auto const node_at = [&](std::array<int, 2> at) { return by_rows[static_cast<std::size_t>(16 * at[1] + at[0])]; };
    auto const rings = rings_of_torus(16);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        // Ranks stay on their boards; seed 0: in order.
        std::vector<int> node_of(static_cast<std::size_t>(net.nodes()));
        std::vector<int> rank_on(node_of.size());
        for (int board = 0; board < 64; ++board) {
            std::vector<int> const inside =
                nodes_of_ranks(*made("fat-tree:4"), seed == 0 ? Placement::blocked : Placement::random, 4, 1,
                               seed + static_cast<std::uint64_t>(board));
            for (int at = 0; at < 4; ++at) {
                node_of[static_cast<std::size_t>(4 * board + at)] = 4 * board + inside[static_cast<std::size_t>(at)];
                rank_on[static_cast<std::size_t>(4 * board + inside[static_cast<std::size_t>(at)])] = 4 * board + at;
            }
        }
        // Each ring passes a quarter of the vector of 1 byte twice, to the rank that sits on the next node of its
        // cycle.
        std::vector<Transfer> transfers;
        for (auto const& ring : rings) {
            for (std::size_t at = 0; at < ring.size(); ++at) {
                int const rank = rank_on[static_cast<std::size_t>(node_at(ring[at]))];
                int const next = rank_on[static_cast<std::size_t>(node_at(ring[(at + 1) % ring.size()]))];
                transfers.push_back({node_of[static_cast<std::size_t>(rank)], node_of[static_cast<std::size_t>(next)],
                                     2.0 / 4 * 255 / 256});
            }
        }
        EXPECT_NEAR(loads_of(net, transfers).share(), 1, 1e-9) << "seed " << seed;
    }
    // Teeth: one ring in the order of the ranks does not use all ports.
    std::vector<Transfer> one_ring;
    for (int node = 0; node < net.nodes(); ++node) {
        one_ring.push_back({node, (node + 1) % net.nodes(), 1});
    }
    EXPECT_LT(loads_of(net, one_ring).share(), 0.3);
}

TEST(LinkLoads, SayWhichLinkIsTheBusiestAndWhatTheOthersCarry) {
    auto const net = made("torus:1x4");
    LinkLoads const loads = loads_of(*net, {{0, 1, 6}, {1, 2, 2}, {0, 0, 100}});
    EXPECT_EQ(net->name(loads.busiest()), "node 0 (0,0) up in dimension 1");
    EXPECT_EQ(loads.largest(), 12) << "a node of a ring has two ports, each of half its injection bandwidth";
    EXPECT_EQ(loads.busiest_node(), 6);
    EXPECT_EQ(loads.share(), 0.5);
    // 4 nodes: in and out, up and down; loads 6 + 2 out, the same in, and twice that on links.
    EXPECT_DOUBLE_EQ(loads.mean(), (8 + 8 + 16) / 16.0);
    EXPECT_EQ(LinkLoads(*net).share(), 1);
}

}  // namespace
}  // namespace dlmb::predict

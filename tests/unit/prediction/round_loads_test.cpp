// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Loads of links and nodes, on cases small enough to count by hand.
#include "common/base/error.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/network/torus.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::predict {
namespace {

RoundLoad load_of(Round const& round, std::string_view nodes, int ranks_per_node = 1) {
    Topology topology = parse_nodes(nodes);
    topology.ranks_per_node = ranks_per_node;
    return loads_of({round}, topology).front();
}

/// Every rank sends the vector to the rank `distance` further on.
Round shift(int ranks, int distance, bool both_ways = false) {
    Round round;
    for (int rank = 0; rank < ranks; ++rank) {
        round.messages.push_back({rank, (rank + distance) % ranks, 1});
    }
    round.both_ways = both_ways;
    return round;
}

TEST(Torus, CarriesAShiftOnAsManyLinksAsItGoes) {
    // One dimension counts: 8 nodes in a row of the last one, the first of extent 2.
    RoundLoad const load = load_of(shift(8, 3), "2x8");
    EXPECT_EQ(load.hops, 3);
    EXPECT_EQ(load.link, 3);
    EXPECT_EQ(load.node, 1);
}

TEST(Torus, SendsHalfARingUpwardsAndPairsThatExchangeBothWays) {
    EXPECT_EQ(load_of(shift(8, 4), "1x8").link, 4);
    EXPECT_EQ(load_of(shift(8, 4, true), "1x8").link, 2);
    EXPECT_EQ(load_of(shift(4, 2, true), "1x4").link, 1);
}

Topology job(std::string_view shape, int machine_dimensions) {
    Topology topology = parse_nodes(shape);
    topology.machine_dimensions = machine_dimensions;
    return topology;
}

TEST(TorusFold, LaysAJobOfFewerDimensionsIntoThoseOfTheMachine) {
    EXPECT_EQ(fold_of(job("64x64", 3)).shape, (std::vector<int>{16, 4, 16, 4})) << "the cube root of 4096 is 16";
    EXPECT_EQ(fold_of(job("32x256", 3)).shape, (std::vector<int>{16, 2, 16, 16})) << "20.2";
    EXPECT_EQ(fold_of(job("1x512", 3)).shape, (std::vector<int>{1, 8, 8, 8}));
    EXPECT_EQ(fold_of(job("7x13", 3)).shape, (std::vector<int>{7, 13})) << "primes cannot be cut";
    for (std::string_view const shape : {"8x8x8", "16x16x16", "4x4x4x4"}) {
        EXPECT_FALSE(is_folded(job(shape, 3))) << shape;
        EXPECT_FALSE(is_folded(job(shape, 0))) << shape;
    }
}

TEST(TorusFold, KeepsNeighboursAndGivesEachNodeItsOwnPlace) {
    for (std::string_view const shape : {"64x64", "32x256", "24x9", "1x512"}) {
        Topology const topology = job(shape, 3);
        TorusFold const fold = fold_of(topology);
        std::vector<int> places = fold.place;
        std::sort(places.begin(), places.end());
        for (int node = 0; node < topology.nodes(); ++node) {
            EXPECT_EQ(places[static_cast<std::size_t>(node)], node) << shape;
        }
        Round round;
        for (int rank = 0; rank + 1 < topology.nodes(); ++rank) {
            if ((rank + 1) % topology.shape.back() != 0) {
                round.messages.push_back({rank, rank + 1, 1});
            }
        }
        RoundLoad const load = loads_of({round}, topology).front();
        EXPECT_EQ(load.hops, 1) << shape;
        EXPECT_EQ(load.link, 1) << shape;
    }
}

TEST(TorusFold, ShortensTheWaysOfPartnersThatAreFarApart) {
    // Partners half of 64 apart: 32 links in a ring of 64, 8 in one of 16.
    Round round;
    for (int rank = 0; rank < 4096; ++rank) {
        round.messages.push_back({rank, rank ^ 32, 1});
    }
    round.both_ways = true;
    EXPECT_EQ(loads_of({round}, job("64x64", 0)).front().hops, 32);
    EXPECT_EQ(loads_of({round}, job("64x64", 3)).front().hops, 8);
}

TEST(Tree, CountsWhatLeavesTheNodeAndWhatStaysInside) {
    RoundLoad const near = load_of(shift(8, 1), "4", 2);
    EXPECT_EQ(near.node, 1) << "the second rank of each node sends to the next one";
    EXPECT_EQ(near.inside, 1);
    RoundLoad const far = load_of(shift(8, 2), "4", 2);
    EXPECT_EQ(far.node, 2);
    EXPECT_EQ(far.inside, 0);
    Round star;
    for (int to = 1; to < 4; ++to) {
        star.messages.push_back({0, to, 1});
    }
    RoundLoad const spread = load_of(star, "1", 4);
    EXPECT_EQ(spread.inside, 1) << "each receiver copies";
    EXPECT_EQ(load_of(shift(8, 4), "8").hops, 3) << "1 + log2 4";
    EXPECT_EQ(load_of(shift(8, 4), "8").far, 2);
}

TEST(Topology, IsReadStrictly) {
    EXPECT_EQ(parse_nodes("32x256").nodes(), 8192);
    EXPECT_EQ(parse_nodes("64").kind, TopologyKind::tree);
    EXPECT_EQ(parse_nodes("64x1").kind, TopologyKind::torus);
    for (std::string_view const text : {"", "x", "4x", "0", "-4", "4x0x4", "4.5", "4 x 4", "1048577",
                                        "65536x65536x65536", "4X4", "1x1x1x1x1x1x1x1x1"}) {
        EXPECT_THROW((void)parse_nodes(text), UsageError) << text;
    }
}

}  // namespace
}  // namespace dlmb::predict

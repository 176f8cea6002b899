// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/plan.hpp"
#include "tests/unit/collective/collective_fixture.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb::collective {
namespace {

Params read(Parameters overrides, WorldShape const& world) {
    overrides.try_emplace("message-size", "1024");
    return read_params(resolve(type(), "", overrides), world);
}

std::string refusal(Parameters const& overrides, WorldShape const& world = {4, 4}) {
    return usage_error_of([&] { (void)read(overrides, world); });
}

TEST(CollectiveParams, ElementsHaveTheNamesOfCAndOfNcclTests) {
    EXPECT_EQ(element_named("float"), Element::fp32);
    EXPECT_EQ(element_named("double"), Element::fp64);
    EXPECT_EQ(element_named("half"), Element::fp16);
    EXPECT_EQ(element_named("bfloat16"), Element::bf16);
    EXPECT_EQ(element_named("fp8e4m3"), Element::fp8);
    EXPECT_EQ(element_named("char"), Element::int8);
    EXPECT_EQ(element_named("uint8"), Element::byte);
    EXPECT_EQ(element_named("fp8e5m2"), std::nullopt);
    for (int each = 0; each < 9; ++each) {
        EXPECT_EQ(element_named(name_of(static_cast<Element>(each))), static_cast<Element>(each));
    }
}

TEST(CollectiveParams, RefusalsCarryTheNumbers) {
    EXPECT_EQ(refusal({{"message-size", "12"}, {"element", "int64"}}),
              "--message-size 12: --element int64 of 8 B does not divide it");
    EXPECT_EQ(refusal({{"root", "4"}}), "--root '4': expected a whole number from 0 to 3");
    EXPECT_EQ(refusal({{"operation", "sendrecv"}, {"route", "ping_pong"}}, {3, 3}),
              "--route ping_pong: 3 ranks do not divide into pairs");
    EXPECT_EQ(refusal({{"operation", "sendrecv"}, {"channels", "2"}}, {2, 2}),
              "--channels 2: only --operation sendrecv --route ping_pong has several");
    EXPECT_EQ(refusal({{"operation", "sendrecv"}, {"route", "ping_pong"}, {"channels", "0"}}, {2, 2}),
              "--channels '0': expected a whole number from 1 to 128");
    EXPECT_EQ(refusal({{"message-size", "8T"}}).substr(0, 20), "--message-size '8T':");
    EXPECT_EQ(refusal({{"message-size", "5000G"}}),
              "--message-size '5000G': expected a size from 0 to 4398046511104 bytes");
    EXPECT_EQ(refusal({{"element", "fp31"}}).substr(0, 26), "--element 'fp31': expected");
    EXPECT_EQ(refusal({{"skew", "intra_host:4"}}, {4, 0}),
              "--skew 'intra_host:4': the 4 ranks have no regular number of ranks per node");
}

TEST(CollectiveParams, EveryElementHasEveryReduction) {
    for (char const* reduction : {"sum", "prod", "min", "max"}) {
        EXPECT_EQ(refusal({{"element", "int8"}, {"reduction", reduction}}), "accepted");
        EXPECT_EQ(refusal({{"operation", "reduce"}, {"element", "char"}, {"reduction", reduction}}), "accepted");
    }
    EXPECT_EQ(refusal({{"reduction", "avg"}}), "--reduction 'avg': expected sum, prod, min, max");
}

TEST(CollectiveParams, WindowsNeedPairsOfRanks) {
    EXPECT_EQ(refusal({{"operation", "bandwidth"}}, {1, 1}),
              "--operation bandwidth: needs pairs of ranks, and there is one rank");
    EXPECT_EQ(refusal({{"operation", "message_rate"}, {"pairs", "3"}}),
              "--pairs '3': expected a whole number from 1 to 2");
    EXPECT_EQ(refusal({{"operation", "bandwidth"}, {"window", "0"}}),
              "--window '0': expected a whole number from 1 to 65536");
    EXPECT_EQ(refusal({{"operation", "bandwidth"}, {"window", "1025"}, {"message-size", "4G"}}),
              "--window 1025: so many messages of 4294967296 B are more than 4398046511104 B in one window");
    EXPECT_EQ(refusal({{"operation", "bibandwidth"}}, {3, 3}), "accepted");
}

TEST(CollectiveParams, RoutesBelongToOneOperation) {
    EXPECT_EQ(refusal({{"operation", "sendrecv"}, {"route", "fan_in"}}),
              "--route fan_in: is of --operation bandwidth, not of sendrecv");
    EXPECT_EQ(refusal({{"operation", "bandwidth"}, {"route", "hypercube"}}),
              "--route hypercube: is of --operation sendrecv, not of bandwidth");
    EXPECT_EQ(refusal({{"operation", "sendrecv"}, {"route", "hypercube"}}, {6, 6}),
              "--route hypercube: 6 ranks are no power of two");
    EXPECT_EQ(refusal({{"operation", "bandwidth"}, {"route", "fan_out"}, {"pairs", "1"}}),
              "--pairs beside --route fan_out: all ranks take part");
    EXPECT_EQ(refusal({{"operation", "bandwidth"}, {"route", "fan_out"}}, {4, 0}),
              "--route fan_out: needs as many ranks on every node, one node after the other");
}

// omb_neighborhood_create refuses the same.
TEST(CollectiveParams, NeighboursAreDifferentRanks) {
    EXPECT_EQ(refusal({{"operation", "alltoallv"}, {"skew", "neighbors:1:1"}}, {3, 3}), "accepted");
    EXPECT_EQ(refusal({{"operation", "alltoallv"}, {"skew", "neighbors:1:1"}}, {2, 2}),
              "--skew 'neighbors:1:1': the shortest side of a grid of 2 ranks has 2, so a radius of 1 meets a "
              "neighbour twice; at least 3 ranks on a side are needed");
    for (char const* wrong : {"neighbors:", "neighbors:1", "neighbors:1:0", "neighbors:0:1", "neighbors:9:1",
                              "neighbors:1:1:1", "neighbors:x:1"}) {
        EXPECT_EQ(refusal({{"operation", "alltoallv"}, {"skew", wrong}}).substr(0, 18), "--skew 'neighbors:") << wrong;
    }
    EXPECT_EQ(refusal({{"operation", "allgatherv"}, {"skew", "neighbors:1:1"}}).substr(0, 18), "--skew 'neighbors:");
}

TEST(CollectiveParams, PartsOfACollectiveAreNearToNobody) {
    EXPECT_EQ(refusal({{"operation", "gatherv"}, {"skew", "intra_host:4"}}),
              "--skew 'intra_host:4': the parts of --operation gatherv are the same for all ranks, so none is on their "
              "node");
}

TEST(CollectiveParams, InPlaceIsRefusedWhereThereIsNoSuchForm) {
    EXPECT_EQ(
        refusal({{"operation", "broadcast"}, {"in-place", "on"}}),
        "--in-place on: --operation broadcast has no such form; reductions, gathers, scatters and alltoall(v) have");
    EXPECT_EQ(refusal({{"operation", "alltoallv"}, {"in-place", "on"}, {"skew", "zipf:1"}}),
              "--in-place on: MPI_Alltoallv then gets from each rank as much as it sends to it, which --skew 'zipf:1' "
              "does not say; balanced and neighbors:D:R do");
    for (KindInfo const& info : kind_table) {
        EXPECT_EQ(refusal({{"operation", std::string(info.name)}, {"in-place", "on"}}) == "accepted", info.in_place)
            << info.name;
    }
}

}  // namespace
}  // namespace dlmb::collective

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Indices = std::vector<int>;

/// 0 between what is on one NUMA node, 1 between all else; -1: bound to none, or unknown.
std::vector<Indices> by_numa(Indices const& ranks, Indices const& devices) {
    std::vector<Indices> distances;
    for (int const rank : ranks) {
        Indices& row = distances.emplace_back();
        for (int const device : devices) {
            row.push_back(rank >= 0 && rank == device ? 0 : 1);
        }
    }
    return distances;
}

Indices assigned(Indices const& ranks, Indices const& devices) {
    return assign_devices(by_numa(ranks, devices));
}

TEST(AssignDevices, EightRanksOnTwoNumaNodesTakeTheDevicesOfTheirNode) {
    Indices const devices{0, 0, 0, 0, 1, 1, 1, 1};
    EXPECT_EQ(assigned({0, 0, 0, 0, 1, 1, 1, 1}, devices), (Indices{0, 1, 2, 3, 4, 5, 6, 7}));
    // Ranks dealt to the nodes in turn, as --map-by numa does.
    EXPECT_EQ(assigned({0, 1, 0, 1, 0, 1, 0, 1}, devices), (Indices{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(AssignDevices, RanksBoundToNoSingleNodeTakeThemInOrder) {
    EXPECT_EQ(assigned({-1, -1, -1, -1}, {0, 0, 1, 1}), (Indices{0, 1, 2, 3}));
}

TEST(AssignDevices, DevicesOfUnknownNodesAreTakenInOrder) {
    EXPECT_EQ(assigned({1, 0, -1}, {-1, -1, -1}), (Indices{0, 1, 2}));
}

TEST(AssignDevices, MoreRanksThanDevicesTakeTurnsAndStayNear) {
    EXPECT_EQ(assigned({0, 1, 0, 1, 1}, {0, 1}), (Indices{0, 1, 0, 1, 1}));
    EXPECT_EQ(assigned({-1, -1, -1}, {0}), (Indices{0, 0, 0}));
}

TEST(AssignDevices, NoDeviceHasTwoRanksWhileAnotherHasNone) {
    // Three ranks on node 0, which has one device of three: two of them go to node 1.
    EXPECT_EQ(assigned({0, 0, 0}, {1, 0, 1}), (Indices{1, 0, 2}));
}

TEST(AssignDevices, FewerRanksThanDevicesLeaveSomeIdle) {
    EXPECT_EQ(assigned({1}, {0, 0, 1, 1}), (Indices{2}));
}

// Four NUMA nodes of 8 units in two packages, GPUs on the first and third: a rank on the second takes that of its
// package, one on the fourth that of the other.
TEST(AssignDevices, WhereTheRanksOwnNodeHasNoneTheNearestOneIsTaken) {
    EXPECT_EQ(assign_devices({{32, 16}, {16, 32}}), (Indices{1, 0}));
}

TEST(AssignDevices, WithoutDevicesNobodyGetsOne) {
    EXPECT_TRUE(assigned({0, 1}, {}).empty());
}

}  // namespace
}  // namespace dlmb

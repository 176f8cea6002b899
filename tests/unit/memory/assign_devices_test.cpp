// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Indices = std::vector<int>;

TEST(AssignDevices, EightRanksOnTwoNumaNodesTakeTheDevicesOfTheirNode) {
    Indices const devices{0, 0, 0, 0, 1, 1, 1, 1};
    EXPECT_EQ(assign_devices(Indices{0, 0, 0, 0, 1, 1, 1, 1}, devices), (Indices{0, 1, 2, 3, 4, 5, 6, 7}));
    // Ranks dealt to the nodes in turn, as --map-by numa does.
    EXPECT_EQ(assign_devices(Indices{0, 1, 0, 1, 0, 1, 0, 1}, devices), (Indices{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(AssignDevices, RanksBoundToNoSingleNodeTakeThemInOrder) {
    EXPECT_EQ(assign_devices(Indices{-1, -1, -1, -1}, Indices{0, 0, 1, 1}), (Indices{0, 1, 2, 3}));
}

TEST(AssignDevices, DevicesOfUnknownNodesAreTakenInOrder) {
    EXPECT_EQ(assign_devices(Indices{1, 0, -1}, Indices{-1, -1, -1}), (Indices{0, 1, 2}));
}

TEST(AssignDevices, MoreRanksThanDevicesTakeTurnsAndStayNear) {
    EXPECT_EQ(assign_devices(Indices{0, 1, 0, 1, 1}, Indices{0, 1}), (Indices{0, 1, 0, 1, 1}));
    EXPECT_EQ(assign_devices(Indices{-1, -1, -1}, Indices{0}), (Indices{0, 0, 0}));
}

TEST(AssignDevices, NoDeviceHasTwoRanksWhileAnotherHasNone) {
    // Three ranks on node 0, which has one device of three: two of them go to node 1.
    EXPECT_EQ(assign_devices(Indices{0, 0, 0}, Indices{1, 0, 1}), (Indices{1, 0, 2}));
}

TEST(AssignDevices, FewerRanksThanDevicesLeaveSomeIdle) {
    EXPECT_EQ(assign_devices(Indices{1}, Indices{0, 0, 1, 1}), (Indices{2}));
}

TEST(AssignDevices, WithoutDevicesNobodyGetsOne) {
    EXPECT_TRUE(assign_devices(Indices{0, 1}, Indices{}).empty());
}

}  // namespace
}  // namespace dlmb

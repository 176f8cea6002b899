// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With hwloc only, on the made-up GPU node beside this file: two packages of two cores, each with four GPUs.
#include "common/record/device_distances.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace dlmb::record {
namespace {

std::vector<int> distances_from(std::vector<int> const& units) {
    std::vector<Device> devices(3);
    devices[0].pci_bus_id = "0000:13:00.0";  // first package
    devices[1].pci_bus_id = "0000:b4:00.0";  // second package
    devices[2].pci_bus_id = "0000:ff:00.0";  // not there
    EXPECT_EQ(setenv("HWLOC_XMLFILE", DLMB_GPU_NODE, 1), 0);
    auto distances = device_distances({units, ""}, devices);
    EXPECT_EQ(unsetenv("HWLOC_XMLFILE"), 0);
    return distances;
}

TEST(DeviceDistances, ADeviceOfTheRanksPackageIsNearer) {
    EXPECT_EQ(distances_from({0}), (std::vector{2, 4, 4}));
    EXPECT_EQ(distances_from({3}), (std::vector{4, 2, 4}));
}

TEST(DeviceDistances, APackageWithSeveralNumaNodesNeedNotBeOneForTheRank) {
    EXPECT_EQ(distances_from({2, 3}), (std::vector{4, 2, 4}));
}

TEST(DeviceDistances, WhoeverMayRunAnywhereIsNearNone) {
    EXPECT_EQ(distances_from({0, 1, 2, 3}), (std::vector{4, 4, 4}));
}

TEST(DeviceDistances, UnitsThatTheNodeDoesNotHaveAreNoFault) {
    EXPECT_EQ(distances_from({0, 700}), (std::vector{4, 4, 4}));
}

}  // namespace
}  // namespace dlmb::record

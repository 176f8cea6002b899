// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With hwloc only: its library reads the made-up GPU node beside this file (lstopo -i gpu_node.xml draws it).
#include "common/record/nearby_nics.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace dlmb::record {
namespace {

std::vector<NearbyNic> nics_near(std::string const& pci_bus_id) {
    EXPECT_EQ(setenv("HWLOC_XMLFILE", DLMB_GPU_NODE, 1), 0);
    auto nics = nearby_nics(pci_bus_id);
    EXPECT_EQ(unsetenv("HWLOC_XMLFILE"), 0);
    return nics;
}

TEST(NearbyNics, TheAdapterBehindTheSameSwitchComesFirst) {
    auto const nics = nics_near("0000:13:00.0");
    ASSERT_EQ(nics.size(), 5U);
    EXPECT_EQ(nics[0].names, "ib0 mlx5_0");
    EXPECT_EQ(nics[0].pci_bus_id, "0000:15:00.0");
    EXPECT_EQ(nics[0].meeting_point, "PCI switch");
    EXPECT_EQ(nics[0].hops, 4);  // up through a port to the switch, down through a port
    EXPECT_EQ(nics[1].names, "eno1");
    EXPECT_EQ(nics[1].meeting_point, "host bridge");
    EXPECT_EQ(nics[2].names, "ib1 mlx5_1");
    EXPECT_EQ(nics[2].meeting_point, "package");
    EXPECT_EQ(nics[2].hops, 8);  // port, switch, host bridge, package, and down again
    EXPECT_EQ(nics[3].meeting_point, "machine");
}

TEST(NearbyNics, EveryGpuHasItsOwnNearestOne) {
    for (auto const& [gpu, nic] :
         {std::pair{"0000:14:00.0", "0000:15:00.0"}, std::pair{"0000:34:00.0", "0000:35:00.0"},
          std::pair{"0000:93:00.0", "0000:95:00.0"}, std::pair{"0000:b4:00.0", "0000:b5:00.0"}}) {
        auto const nics = nics_near(gpu);
        ASSERT_FALSE(nics.empty());
        EXPECT_EQ(nics[0].pci_bus_id, nic);
    }
}

TEST(NearbyNics, ADeviceThatIsNotThereIsNearNone) {
    EXPECT_TRUE(nics_near("0000:ff:00.0").empty());
}

}  // namespace
}  // namespace dlmb::record

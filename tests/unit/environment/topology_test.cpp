// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With hwloc only: its library reads a made-up machine from HWLOC_SYNTHETIC, or the made-up GPU node beside this file:
// two packages of two cores, each with four GPUs (lstopo -i gpu_node.xml draws it).
#include "common/measure/environment/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace dlmb::measure {
namespace {

TEST(Topology, CountsWhatASyntheticMachineHas) {
    ASSERT_EQ(setenv("HWLOC_SYNTHETIC", "pack:2 [numa] l3:1(size=50331648) l2:4(size=1048576) core:1 pu:2", 1), 0);
    Topology const topology = read_topology();
    ASSERT_EQ(unsetenv("HWLOC_SYNTHETIC"), 0);
    EXPECT_EQ(topology.sockets, 2);
    EXPECT_EQ(topology.numa_nodes, 2);
    EXPECT_EQ(topology.cores, 8);
    EXPECT_EQ(topology.processing_units, 16);
    EXPECT_EQ(topology.largest_cache, Bytes{48} << 20);
    EXPECT_NE(topology.synthetic.find("Package:2"), std::string::npos) << topology.synthetic;
    EXPECT_EQ(topology.synthetic.find("memory="), std::string::npos) << topology.synthetic;
    EXPECT_EQ(topology.source.substr(0, 6), "hwloc ");
}

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
    EXPECT_EQ(distances_from({2, 3}), (std::vector{4, 2, 4})) << "a package need not be one NUMA node";
    EXPECT_EQ(distances_from({0, 1, 2, 3}), (std::vector{4, 4, 4})) << "whoever may run anywhere is near none";
    EXPECT_EQ(distances_from({0, 700}), (std::vector{4, 4, 4})) << "a unit that the node does not have is no fault";
}

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
    EXPECT_TRUE(nics_near("0000:ff:00.0").empty());
}

}  // namespace
}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With hwloc only: its library reads a made-up machine from HWLOC_SYNTHETIC.
#include "common/record/topology.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace dlmb::record {
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

}  // namespace
}  // namespace dlmb::record

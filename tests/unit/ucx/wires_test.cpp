// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/wires.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

TEST(Wires, TransportsAreTheNamesOfTheContextsResources) {
    // The shape of ucp_context_print_info's lines in UCX 1.13.
    std::string const info = "#     component 4  :  ib\n"
                             "#\n"
                             "#            md 0  :  component 0  self \n"
                             "#\n"
                             "#      resource 0  :  md 0  dev 0  flags -- self/memory0\n"
                             "#      resource 1  :  md 1  dev 1  flags -- tcp/lo\n"
                             "#      resource 2  :  md 1  dev 2  flags -- tcp/eth0\n";
    EXPECT_EQ(transports_of_context(info), (TransportNames{"self", "tcp"}));
}

TEST(Wires, AreSocketsWhereNothingFasterReachesTheOtherRank) {
    TransportNames const tcp{"self", "tcp", "cuda_copy"};
    EXPECT_EQ(wire_within_node(tcp), Wire::loopback);
    EXPECT_EQ(wire_between_nodes(tcp), Wire::sockets);
    TransportNames const memory_too{"self", "tcp", "sysv", "cma"};
    EXPECT_EQ(wire_within_node(memory_too), Wire::native);
    EXPECT_EQ(wire_between_nodes(memory_too), Wire::sockets);
    TransportNames const adapter_too{"self", "tcp", "rc_mlx5"};
    EXPECT_EQ(wire_within_node(adapter_too), Wire::native);
    EXPECT_EQ(wire_between_nodes(adapter_too), Wire::native);
    EXPECT_EQ(wire_within_node({"self", "sysv"}), Wire::native);
}

TEST(Wires, OfAGroupOfTwoNodesAreThoseBetweenNodes) {
    Wires const wires{Wire::native, Wire::sockets, {true, true, false}};
    EXPECT_EQ(wires.among({{0, 1}}), Wire::native);
    EXPECT_EQ(wires.among({{1, 2}}), Wire::sockets);
    Wires const by_tcp{Wire::loopback, Wire::sockets, {true, true, false}};
    EXPECT_EQ(by_tcp.among({{0, 1}}), Wire::loopback);
    EXPECT_EQ(by_tcp.among({{0, 2}}), Wire::sockets);
}

}  // namespace
}  // namespace dlmb::ucx

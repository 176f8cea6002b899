// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/provenance.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

TEST(Transports, AreTheNamesOfTheLanesSortedAndOnce) {
    // The shape of ucp_ep_print_info's lines in UCX 1.13.
    std::string const info =
        "# UCP endpoint \n"
        "#\n"
        "#               peer: <no debug data>\n"
        "#                 lane[0]:  4:sysv/memory.0 md[3]      -> md[3]/sysv/sysdev[255]       am am_bw#0\n"
        "#                 lane[1]: 12:cma/memory.0 md[7]       -> md[7]/cma/sysdev[255]        rma_bw#0\n"
        "#                 lane[2]:  4:sysv/memory.0 md[3]      -> md[3]/sysv/sysdev[255]       am_bw#1\n"
        "#                tag_send: 0..<egr/short>..92..<egr/bcopy>..8256..<rndv>..(inf)\n";
    EXPECT_EQ(transports_in(info), "cma sysv");
}

TEST(Transports, AreNoneInATextWithoutLanes) {
    EXPECT_EQ(transports_in("#\n# rndv: 0:1/2\n"), "");
}

}  // namespace
}  // namespace dlmb::ucx

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A block and a displacement that no int can hold, for real: 2.2 GiB from rank 0 to rank 1. About 5 GiB of memory.
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

constexpr Bytes large = 2'362'232'013;  // 2.2 GiB, odd

class LargeBlock : public testing::TestWithParam<char const*> {};

TEST_P(LargeBlock, ArrivesWhole) {
    Rig rig;
    ASSERT_EQ(rig.ranks(), 2);
    PlanBuilder builder(rig.me());
    // Rank 1's self block stands behind the large one in its receive buffer: its displacement is above 2^31.
    add_exchange(
        builder, rig.world(), rig.me(), [](Rank from, Rank to) { return from == 0 && to == 1 ? large : Bytes{1001}; },
        "dispatch");
    EXPECT_EQ(rig.run(std::move(builder).finish(), GetParam(), 1), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Methods, LargeBlock,
                         testing::Values("alltoallv", "alltoallw", "isend_irecv", "pairwise", "neighbor", "persistent",
                                         "put"),
                         [](auto const& method) { return std::string(method.param); });

// Parts of an int of bytes of a buffer that is longer, and reductions that have to be cut.
TEST(LargeCollectives, WithARootArriveWhole) {
    constexpr Bytes part = 1'181'116'007;  // 1.1 GiB, odd
    for (bool const scatters : {false, true}) {
        Rig rig;
        PlanBuilder builder(rig.me());
        GroupId const all = builder.group(rig.world());
        scatters ? builder.scatter(all, 1, 2 * part, Element::byte, "scatter")
                 : builder.gather(all, 1, 2 * part, Element::byte, "gather");
        EXPECT_EQ(rig.run(std::move(builder).finish(), "default", 1), std::vector<std::string>{}) << scatters;
    }
    Rig rig;
    PlanBuilder builder(rig.me());
    builder.reduce(builder.group(rig.world()), 0, large, Element::int8, Reduction::max, "reduce");
    EXPECT_EQ(rig.run(std::move(builder).finish(), "default", 1), std::vector<std::string>{});
}

}  // namespace
}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A block and a displacement that no int can hold, for real: 2.2 GiB from rank 0 to rank 1. About 5 GiB of memory.
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace dlmb::mpi {
namespace {

constexpr Bytes large = 2'362'232'013;  // 2.2 GiB, odd

std::string name_of_method(testing::TestParamInfo<char const*> const& method) {
    std::string name(method.param);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char each) { return std::isalnum(each) == 0; }, '_');
    return name;
}

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
                                         "put", "put:sync=fence", "get"),
                         name_of_method);

/// A window from rank 0 to rank 1, and its answer.
void expect_whole(char const* method, Bytes bytes, MessageWindow const& window) {
    Rig rig;
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    if (rig.me() == 0) {
        StepId const sent = builder.send(all, 1, bytes, 0, -1, "window", {}, window);
        builder.recv(all, 1, 4, 0, -1, "answer", {sent});
    } else {
        StepId const received = builder.recv(all, 0, bytes, 0, -1, "window", {}, window);
        builder.send(all, 0, 4, 0, -1, "answer", {received});
    }
    EXPECT_EQ(rig.run(std::move(builder).finish(), method, 1), std::vector<std::string>{});
}

class LargeWindow : public testing::TestWithParam<char const*> {};

TEST_P(LargeWindow, WhoseSecondMessageLiesBeyondAnIntArrives) {
    expect_whole(GetParam(), Bytes{1} << 20, {2, (Bytes{1} << 31) + 4096});
}

TEST_P(LargeWindow, OfMessagesLongerThanAnIntArrives) {
    expect_whole(GetParam(), large, {2, 0});
}

INSTANTIATE_TEST_SUITE_P(Methods, LargeWindow, testing::Values("isend_irecv", "persistent", "put:sync=fence", "get"),
                         name_of_method);

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

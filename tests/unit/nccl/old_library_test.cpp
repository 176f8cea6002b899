// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backend as it is built for NCCL 2.19, on the double: what that library lacks is declined with the reason.
#include "common/backends/nccl/iteration.hpp"
#include "common/backends/nccl/registration.hpp"
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::HasSubstr;

Plan exchange_plan(RankOnDouble const& rank) {
    PlanBuilder builder(rank.me());
    std::vector<Bytes> const blocks(rank.world().members.size(), 64);
    builder.exchange(builder.group(rank.world()), blocks, blocks, "dispatch");
    return std::move(builder).finish();
}

TEST(OldNccl, HasNoAllToAllButGroupedMessages) {
    RankOnDouble rank;
    EXPECT_THAT(rank.refusal(exchange_plan(rank), "native"), HasSubstr("older than 2.28 and has no ncclAlltoAll"));
    EXPECT_EQ(rank.refusal(exchange_plan(rank), "grouped"), "compiled");
}

TEST(OldNccl, HasNoWindows) {
    EXPECT_THAT(windows_missing(), HasSubstr("older than 2.27"));
}

TEST(OldNccl, MakesNoPuts) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    PlacedBytes const place{64, 8};
    if (rank.me() == 0) {
        builder.put(world, {{1, 1}}, std::span(&place, 1), "put");
    } else {
        builder.wait_signal(world, {{0, 1}}, std::span(&place, 1), 0, "wait");
    }
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "default"),
                HasSubstr("ncclPutSignal, which came with NCCL 2.29; the build has 2."));
}

TEST(OldNccl, HasNoFp8) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    builder.all_reduce(builder.group(rank.world()), 64, Element::fp8, Reduction::sum, "gradients");
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "default"), HasSubstr("came with NCCL 2.24"));
}

TEST(OldNccl, WhatWasDeclinedAndIsCalledNeverthelessThrows) {
    auto const bootstrap = make_mpi_bootstrap();
    EXPECT_THROW(all_to_all({}, nullptr), Error);
    EXPECT_THROW((void)register_window(*bootstrap, nullptr, nullptr, 0), Error);
}

// All ranks backwards, and a group that only rank 0 is in.
TEST(OldNccl, GroupsReduceInCommunicatorsOfTheirOwn) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    Group const world = rank.world();
    builder.all_reduce(builder.group({{world.members.rbegin(), world.members.rend()}}), 1024, Element::fp32,
                       Reduction::sum, "backwards");
    if (rank.me() == 0) {
        builder.all_reduce(builder.group({{0}}), 1024, Element::fp32, Reduction::sum, "alone");
    }
    EXPECT_THAT(rank.problems(std::move(builder).finish(), "default"), testing::IsEmpty());
}

}  // namespace
}  // namespace dlmb::nccl

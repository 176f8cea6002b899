// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What each operation becomes: communicator, peers, counts, types.
#include "tests/unit/nccl/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

class CallOf : public testing::Test {
protected:
    template <class Call>
    [[nodiscard]] Call only(CallSettings const& settings = {}) {
        return std::get<Call>(items_of(std::move(builder).finish(), communicators, settings).at(0).work);
    }
    [[nodiscard]] std::string refusal(CallSettings const& settings = {}) {
        Plan const plan = std::move(builder).finish();
        auto const made = translate(plan, fake_buffers(plan), communicators.lookup(), settings);
        return made ? "" : made.error().reason;
    }
    void exchange(std::vector<Bytes> const& send, std::vector<Bytes> const& recv) {
        builder.exchange(odd, send, recv, "dispatch");
    }

    FakeCommunicators communicators{4};
    PlanBuilder builder{3};
    GroupId odd = builder.group(group_of({3, 1}));  // this rank is the first of it
};

TEST_F(CallOf, AMessageNamesItsPeerInTheWorldWhateverItsGroup) {
    builder.send(odd, 1, 8, 5, -1, "out");
    auto const call = only<GroupedCall>();
    EXPECT_EQ(call.communicator, communicators.world());
    EXPECT_EQ(call.sends.at(0).peer, 1);
    EXPECT_EQ(call.sends.at(0).channel, 5);
    EXPECT_EQ(call.sends.at(0).bytes, 8U);
}

TEST_F(CallOf, ARaggedExchangeLeavesOutWhatIsEmpty) {
    exchange({7, 0}, {7, 9});
    auto const call = only<GroupedCall>();
    EXPECT_EQ(call.communicator, communicators.of(group_of({3, 1})));
    ASSERT_EQ(call.sends.size(), 1U);
    ASSERT_EQ(call.receives.size(), 2U);
    EXPECT_EQ(call.receives[1].bytes, 9U);
    EXPECT_EQ(call.sends[0].channel, Transfer::no_channel);
}

TEST_F(CallOf, EqualPackedBlocksGoThroughTheLibrarysAllToAllWhenAskedFor) {
    exchange({64, 64}, {64, 64});
    EXPECT_EQ(only<CollectiveCall>({true, ""}).count, 64U);
}

TEST_F(CallOf, RaggedBlocksDoNotAndTheStepIsNamed) {
    exchange({7, 0}, {7, 9});
    EXPECT_EQ(refusal({true, ""}),
              "nccl: \"dispatch\": ncclAlltoAll needs equal packed blocks; method grouped takes ragged ones");
}

TEST_F(CallOf, CountsAreElementsOfOneRanksShare) {
    builder.reduce_scatter(odd, 64, Element::bf16, Reduction::max, "scatter");
    auto const call = only<CollectiveCall>();
    EXPECT_EQ(call.count, 16U);  // 64 bytes, 2 ranks, 2 bytes per element
    EXPECT_EQ(call.type, ncclBfloat16);
    EXPECT_EQ(call.operation, ncclMax);
}

TEST_F(CallOf, GatheringCountsBytesOfOneRank) {
    builder.all_gather(odd, 64, Element::fp32, "gather");
    EXPECT_EQ(only<CollectiveCall>().count, 32U);
}

TEST_F(CallOf, AReductionToOneRankNamesItsRoot) {
    builder.reduce(odd, 1, 64, Element::int8, Reduction::min, "reduce");
    auto const call = only<CollectiveCall>();
    EXPECT_EQ(call.root, 1);
    EXPECT_EQ(call.count, 64U);
    EXPECT_EQ(call.type, ncclInt8);
}

TEST_F(CallOf, ARootGathersByReceivingEveryPartThatIsNotEmpty) {
    builder.gather(odd, 0, SharedBytes(std::vector<Bytes>{7, 0}), Element::byte, "gather");
    auto const call = only<GroupedCall>();
    EXPECT_EQ(call.communicator, communicators.of(group_of({3, 1})));
    ASSERT_EQ(call.receives.size(), 1U);
    EXPECT_EQ(call.receives[0].peer, 0);
    ASSERT_EQ(call.sends.size(), 1U) << "its own part, to itself";
    EXPECT_EQ(call.sends[0].bytes, 7U);
}

TEST_F(CallOf, AScatterIsOneMessagePerPartAndTheRootsOwnIsInPlace) {
    builder.in_place(true);
    builder.scatter(odd, 0, 64, Element::byte, "scatter");
    auto const call = only<GroupedCall>();
    EXPECT_TRUE(call.receives.empty());
    ASSERT_EQ(call.sends.size(), 1U);
    EXPECT_EQ(call.sends[0].peer, 1);
    EXPECT_EQ(call.sends[0].bytes, 32U);
}

TEST_F(CallOf, NamedPartsOfOneSizeAreTheLibrarysCollective) {
    builder.all_gather(odd, SharedBytes(std::vector<Bytes>{32, 32}), Element::fp32, "gather");
    EXPECT_EQ(only<CollectiveCall>().count, 32U);
}

TEST_F(CallOf, PartsOfDifferentSizesAreGatheredByMessages) {
    builder.all_gather(odd, SharedBytes(std::vector<Bytes>{32, 8}), Element::fp32, "gather");
    auto const call = only<GroupedCall>();
    ASSERT_EQ(call.sends.size(), 2U);
    EXPECT_EQ(call.sends[1].bytes, 32U);
    EXPECT_EQ(call.receives[1].bytes, 8U);
    EXPECT_EQ(call.receives[1].data, call.receives[0].data + 32);
}

TEST_F(CallOf, WhatNcclLacksIsDeclinedByName) {
    builder.reduce_scatter(odd, SharedBytes(std::vector<Bytes>{32, 8}), Element::fp32, Reduction::sum, "scatter");
    EXPECT_EQ(refusal(), "nccl: \"scatter\": ncclReduceScatter takes equal parts only");
    builder = PlanBuilder(3);
    builder.barrier(builder.group(group_of({3, 1})), "barrier");
    EXPECT_EQ(refusal(), "nccl: \"barrier\": NCCL has no barrier");
}

TEST_F(CallOf, Fp8IsReducedWhereItCanBeAndDeclinedWithTheReasonElsewhere) {
    builder.all_reduce(odd, 64, Element::fp8, Reduction::sum, "reduce");
    EXPECT_EQ(refusal({false, "GPUs too old"}), "nccl: \"reduce\": GPUs too old");
    builder = PlanBuilder(3);
    odd = builder.group(group_of({3, 1}));
    builder.all_reduce(odd, 64, Element::fp8, Reduction::sum, "reduce");
    EXPECT_EQ(only<CollectiveCall>().count, 64U);
}

TEST_F(CallOf, Fp8IsScatteredUnderTheSameCondition) {
    builder.reduce_scatter(odd, 64, Element::fp8, Reduction::sum, "scatter");
    EXPECT_EQ(refusal({false, "GPUs too old"}), "nccl: \"scatter\": GPUs too old");
}

}  // namespace
}  // namespace dlmb::nccl

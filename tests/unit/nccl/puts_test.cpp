// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals by the calls of NCCL 2.29, on the double: which calls, what is declined, and that a payload which
// its signal has overtaken is found.
#include "tests/unit/nccl/call_list.hpp"
#include "tests/unit/nccl/double_rig.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RankOnDouble with_windows(char const* comm = "") {
    return RankOnDouble(0, comm, MemoryKind::nccl);
}

constexpr PlacedBytes place{64, 1000};

/// Each of the two ranks puts to the other and answers what has come.
Plan there_and_back(RankOnDouble const& rank) {
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    std::vector<Signal> const signals{{1 - rank.me(), 0}, {1 - rank.me(), 1}};
    builder.put(world, signals, std::span(&place, 1), "there.put");
    StepId const arrived = builder.wait_signal(world, signals, std::span(&place, 1), 0, "there.wait");
    builder.put(world, signals, std::span(&place, 1), "back.put", {arrived});
    builder.wait_signal(world, signals, std::span(&place, 1), 0, "back.wait", {arrived});
    return std::move(builder).finish();
}

TEST(NcclPuts, DeliverOnBlockingAndOtherCommunicators) {
    for (char const* const comm : {"blocking", "nonblocking"}) {
        RankOnDouble rank = with_windows(comm);
        EXPECT_THAT(rank.problems(there_and_back(rank), "put"), IsEmpty()) << comm;
    }
}

// Only the first put asks for a permission: the answer follows a signal of this iteration.
TEST(NcclPuts, OfAnIterationAreTheseCalls) {
    RankOnDouble rank = with_windows();
    auto const compiled = rank.compile(there_and_back(rank), "put");
    compiled->keep_marks(false);
    CallList const calls = calls_of([&] {
        compiled->launch();
        compiled->finish();
    });
    std::string const peer = fmt::format("peer {}", 1 - rank.me());
    CallList const writes{"ncclGroupStart", "ncclSignal " + peer, "ncclPutSignal " + peer + " count 1000",
                          "ncclGroupEnd"};
    CallList expected{"ncclSignal " + peer, "ncclWaitSignal " + peer + " count 1 "};
    for (int turn = 0; turn < 2; ++turn) {
        expected.insert(expected.end(), writes.begin(), writes.end());
        expected.push_back("ncclWaitSignal " + peer + " count 2 ");
    }
    expected.insert(expected.end(), {"cudaEventRecord untimed", "wait for an event"});
    EXPECT_EQ(calls, expected);
}

// In plan order both ranks would wait for each other.
TEST(NcclPuts, AreNotHeldUpByAWaitBeforeThem) {
    RankOnDouble rank = with_windows();
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    builder.wait_signal(world, {{1 - rank.me(), 1}}, std::span(&place, 1), 0, "wait");
    builder.put(world, {{1 - rank.me(), 1}}, std::span(&place, 1), "put");
    EXPECT_THAT(rank.problems(std::move(builder).finish(), "put"), IsEmpty());
}

TEST(NcclPuts, WhosePayloadComesBehindTheSignalAreFound) {
    ScopedVariable const overtaken("DLMB_FAKE_NCCL_ONE_SIDED", "overtaken");
    RankOnDouble rank = with_windows();
    EXPECT_THAT(rank.problems(there_and_back(rank), "put"), testing::Contains(HasSubstr("back.wait")));
}

TEST(NcclPuts, NeedMemoryOfNccl) {
    RankOnDouble rank;
    EXPECT_EQ(rank.refusal(there_and_back(rank), "default"),
              "nccl puts from and to symmetric windows of nccl memory, not cuda memory");
}

TEST(NcclPuts, AreNotCaptured) {
    RankOnDouble rank = with_windows();
    EXPECT_THAT(rank.refusal(there_and_back(rank), "graph"), HasSubstr("in a graph"));
}

TEST(NcclPuts, NeedTheLibraryTooToBeOf229) {
    ScopedVariable const older("DLMB_FAKE_NCCL_VERSION", "22809");
    RankOnDouble rank = with_windows();
    EXPECT_THAT(rank.refusal(there_and_back(rank), "put"),
                AllOf(HasSubstr("came with NCCL 2.29"), HasSubstr("runs with 2.28.9")));
}

TEST(NcclPuts, AreDeclinedWithTheWordsOfNcclWhereGpusDoNotReachEachOther) {
    ScopedVariable const none("DLMB_FAKE_NCCL_ONE_SIDED", "no");
    RankOnDouble rank = with_windows();
    EXPECT_THAT(rank.refusal(there_and_back(rank), "put"),
                HasSubstr("nccl makes no one-sided calls here: ncclSignal: invalid argument"));
}

TEST(NcclPuts, AreNoReads) {
    RankOnDouble rank = with_windows();
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    builder.put(world, {{1 - rank.me(), 1}}, std::span(&place, 1), "offer", {}, OperationKind::offer);
    builder.wait_signal(world, {{1 - rank.me(), 1}}, std::span(&place, 1), 0, "get", {}, OperationKind::get);
    EXPECT_EQ(rank.refusal(std::move(builder).finish(), "default"), "nccl: NCCL has one-sided writes only, no reads");
}

TEST(NcclPuts, NeedBuffersThatAreAlikeOnAllRanks) {
    RankOnDouble rank = with_windows();
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    if (rank.me() == 0) {
        builder.put(world, {{1, 1}, {1, 1}}, std::vector{place, place}, "put");
    } else {
        builder.wait_signal(world, {{0, 1}}, std::span(&place, 1), 0, "keys");
        builder.wait_signal(world, {{0, 1}}, std::span(&place, 1), 0, "values");
    }
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "put"), HasSubstr("as many buffers on each rank"));
}

}  // namespace
}  // namespace dlmb::nccl

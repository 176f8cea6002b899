// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method threads, in a launch whose MPI is started at MPI_THREAD_MULTIPLE (tests/main/mpi_main.cpp).
#include "tests/conformance/corpus.hpp"
#include "tests/conformance/run_corpus.hpp"
#include "tests/mpi/rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

namespace dlmb::mpi {
namespace {

constexpr int channels = 4;

/// osu_latency_mt between the first half and the second.
Plan ping_pongs(Rank me, int ranks, Group const& world, Bytes bytes) {
    PlanBuilder builder(me);
    GroupId const all = builder.group(world);
    int const half = ranks / 2;
    for (int channel = 0; channel < channels && me < 2 * half; ++channel) {
        if (me < half) {
            StepId const ping = builder.send(all, me + half, bytes, channel, -1, "ping");
            builder.recv(all, me + half, bytes, channel, -1, "pong", {ping});
        } else {
            StepId const ping = builder.recv(all, me - half, bytes, channel, -1, "ping");
            builder.send(all, me - half, bytes, channel, -1, "pong", {ping});
        }
    }
    return std::move(builder).finish();
}

std::string refusal(Rig& rig, Plan const& plan) {
    Buffers const buffers = rig.bind(plan);
    auto const compiled = rig.backend().compile(plan, buffers, parse_method("threads"));
    return compiled ? "" : compiled.error().reason;
}

class SeveralThreads : public testing::Test {
protected:
    void SetUp() override {
        int level = 0;
        MPI_Query_thread(&level);
        if (level != MPI_THREAD_MULTIPLE) {
            GTEST_SKIP() << "this MPI library has no MPI_THREAD_MULTIPLE";
        }
    }
};

TEST(Threads, TheBackendLeavesTheLevelOfMpiAsItWas) {
    int before = 0;
    MPI_Query_thread(&before);
    Rig const rig;
    int after = 0;
    MPI_Query_thread(&after);
    EXPECT_EQ(after, before);
}

TEST_F(SeveralThreads, EveryMessageOfTheCorpusArrives) {
    Rig rig;
    std::vector<conformance::CorpusEntry> entries;
    conformance::add_messages(rig.ranks(), entries);
    auto const result = conformance::run_method(entries, "threads", rig.bootstrap(), rig.backend(), rig.memory());
    EXPECT_THAT(result.problems, testing::IsEmpty());
    for (auto const& declined : result.declined) {
        ADD_FAILURE() << declined.entry << ": " << declined.reason;
    }
    EXPECT_EQ(result.iterations, rig.ranks() > 1 ? 2 * entries.size() : 0) << "one rank has no messages";
}

TEST_F(SeveralThreads, PingPongsOfSeveralChannelsAreRightInEveryIteration) {
    Rig rig;
    for (Bytes const bytes : {Bytes{0}, Bytes{8}, Bytes{100000}}) {
        EXPECT_THAT(rig.run(ping_pongs(rig.me(), rig.ranks(), rig.world(), bytes), "threads", 20), testing::IsEmpty());
    }
}

TEST_F(SeveralThreads, WhatOneThreadCannotDoInOrderIsDeclinedOnAllRanks) {
    Rig rig;
    Rank const right = (rig.me() + 1) % rig.ranks();
    Rank const left = (rig.me() + rig.ranks() - 1) % rig.ranks();
    // The second message of rank 0 waits for two of different threads.
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    StepId const first = builder.send(all, right, 8, 0, -1, "a");
    StepId const second = builder.recv(all, left, 8, 0, -1, "b");
    std::vector<StepId> const after = rig.me() == 0 ? std::vector{first, second} : std::vector<StepId>{};
    builder.send(all, right, 8, 1, -1, "c", after);
    builder.recv(all, left, 8, 1, -1, "d");
    EXPECT_THAT(refusal(rig, std::move(builder).finish()), testing::HasSubstr("does not follow"));

    PlanBuilder other(rig.me());
    other.barrier(other.group(rig.world()), "barrier");
    EXPECT_THAT(refusal(rig, std::move(other).finish()), testing::HasSubstr("barrier is no message"));
}

}  // namespace
}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which GPU belongs to whom, and what is said where there is none.
#include "common/backend_kit/registry.hpp"
#include "common/backends/nccl/gpus.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

TEST(Gpus, ASharedOneIsFoundWithBothItsRanks) {
    EXPECT_EQ(first_to_share({"0000:1b:00.0 of a", "0000:2c:00.0 of a", "0000:1b:00.0 of b"}), std::nullopt);
    EXPECT_EQ(first_to_share({"x of a", "y of a", "x of b", "y of a"}), std::pair(1, 3));
}

TEST(SharedGpu, EveryRankPassesForANodeOfItsOwn) {
    auto const first = shared_gpu_settings(0, true).front();
    auto const second = shared_gpu_settings(1, true).front();
    EXPECT_EQ(first.first, "NCCL_HOSTID");
    EXPECT_EQ(second.first, "NCCL_HOSTID");
    EXPECT_NE(first.second, second.second);
}

TEST(SharedGpu, LoopbackIsNoWayToAnotherHost) {
    auto const loopback = testing::Contains(testing::Pair("NCCL_SOCKET_IFNAME", "lo"));
    EXPECT_THAT(shared_gpu_settings(0, true), loopback);
    EXPECT_THAT(shared_gpu_settings(0, false), testing::Not(loopback));
}

TEST(SharedGpu, ASettingThatTheSystemRefusesIsAnError) {
    EXPECT_THAT(
        [] {
            apply({{"NOT=A_NAME", "1"}});
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr("setenv NOT=A_NAME=1 failed")));
}

TEST(NcclMemory, IsServedOrTheReasonSaysWhy) {
    std::string why_not;
    auto const space = make_memory(MemoryKind::nccl, why_not);
    if (space != nullptr) {
        EXPECT_EQ(space->kind(), MemoryKind::nccl);
        EXPECT_EQ(space->allocate(0).data(), nullptr);
    } else {
        EXPECT_THAT(why_not, testing::StartsWith("nccl memory: no CUDA device"));
    }
}

TEST(Gpus, AreSurveyedOrTheReasonSaysWhyThereAreNone) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        auto const gpus = survey_gpus(bootstrap, true);
        if (gpus) {
            EXPECT_TRUE(gpus.value().shared) << "threads of one process on its current device";
        } else {
            EXPECT_THAT(gpus.error().reason, testing::HasSubstr("no CUDA device"));
        }
    });
}

TEST(NcclBackend, DeclinesRanksThatAreThreads) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        auto const made = make_backend("nccl", {bootstrap});
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().reason, "nccl runs one process per GPU; start with mpirun or srun");
    });
}

}  // namespace
}  // namespace dlmb::nccl

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

namespace dlmb::fake_gpu {
namespace {

ncclComm_t alone(ncclResult_t expected = ncclInProgress) {
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), expected);
    return comm;
}

TEST(NonBlocking, IsInProgressForSomeQuestions) {
    ncclComm_t const comm = alone();
    EXPECT_GT(questions_until_ready(comm), 1);
    EXPECT_EQ(questions_until_ready(comm), 1);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, ACallBeforeThePreviousOneIsThroughIsRefused) {
    ncclComm_t const comm = alone();
    DeviceInts const ints({5});
    EXPECT_EQ(ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, comm, nullptr), ncclInvalidArgument);
    questions_until_ready(comm);
    EXPECT_EQ(ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, comm, nullptr), ncclInProgress);
    EXPECT_EQ(ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, WorkIsInTheStreamOnlyWhenTheStateIsSuccess) {
    ncclComm_t const comm = alone();
    questions_until_ready(comm);
    DeviceInts const from({5});
    DeviceInts const to({0});
    ncclAllGather(from.data(), to.data(), 1, ncclInt32, comm, nullptr);
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
    EXPECT_EQ(to.values(), std::vector{0});
    questions_until_ready(comm);
    EXPECT_EQ(to.values(), std::vector{5});
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, ASplitGivesItsCommunicatorWhenTheParentIsReady) {
    ncclComm_t const comm = alone();
    questions_until_ready(comm);
    ncclComm_t part = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, &part, nullptr), ncclInProgress);
    EXPECT_EQ(part, nullptr);
    questions_until_ready(comm);
    ASSERT_NE(part, nullptr);
    questions_until_ready(part);
    EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    questions_until_ready(comm);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

}  // namespace
}  // namespace dlmb::fake_gpu

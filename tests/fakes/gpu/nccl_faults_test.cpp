// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace dlmb::fake_gpu {
namespace {

class Faults : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(Faults, EndsOfAMessageThatDisagreeEndTheProcess) {
    EXPECT_DEATH(run_ranks(2,
                           [](RankOfTest const& me) {
                               DeviceInts const ints({1, 2, 3});
                               if (me.rank == 0) {
                                   ncclSend(ints.data(), 3, ncclInt32, 1, me.comm, me.stream);
                               } else {
                                   ncclRecv(ints.data(), 2, ncclInt32, 0, me.comm, me.stream);
                               }
                               me.wait();
                           }),
                 "rank 0 sends 12 B to rank 1, which expects 8 B");
}

TEST_F(Faults, DifferentOperationsAtTheSameTimeEndTheProcess) {
    EXPECT_DEATH(run_ranks(2,
                           [](RankOfTest const& me) {
                               DeviceInts const ints({1, 2});
                               ncclRedOp_t const reduction = me.rank == 0 ? ncclSum : ncclMax;
                               ncclAllReduce(ints.data(), ints.data(), 2, ncclInt32, reduction, me.comm, me.stream);
                               me.wait();
                           }),
                 "is in ncclAllReduce .*reduction 2.*sends it data of ncclAllReduce .*reduction 0|"
                 "is in ncclAllReduce .*reduction 0.*sends it data of ncclAllReduce .*reduction 2");
}

TEST_F(Faults, HostMemoryEndsTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               int value = 1;
                               ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, me.comm, me.stream);
                           }),
                 "ncclAllReduce, send buffer: .* is not device memory");
}

TEST_F(Faults, WaitingInAnOpenGroupEndsTheProcess) {
    EXPECT_DEATH(
        {
            ncclGroupStart();
            cudaStreamSynchronize(nullptr);
        },
        "ncclGroupEnd is missing");
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

TEST_F(Faults, AMessageToOneselfAloneEndsTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               DeviceInts const ints({1});
                               ncclSend(ints.data(), 1, ncclInt32, 0, me.comm, me.stream);
                           }),
                 "rank 0 sends itself 1 and receives 0 messages in one group");
}

TEST_F(Faults, UseAfterAbortEndsTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               ncclCommAbort(me.comm);
                               int count = 0;
                               ncclCommCount(me.comm, &count);
                           }),
                 "ncclCommCount: a communicator that was destroyed, aborted or never made");
}

TEST_F(Faults, TwoRanksOnOneDeviceAreRefused) {
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    std::vector<ncclResult_t> results(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            ncclComm_t comm = nullptr;
            results[static_cast<std::size_t>(rank)] = ncclCommInitRank(&comm, 2, id, rank);
        });
    }
    threads[0].join();
    threads[1].join();
    EXPECT_EQ(results, (std::vector{ncclInvalidUsage, ncclInvalidUsage}));
}

/// Joins the communicator and leaves without a word, as a process that was killed.
[[noreturn]] void come_and_go(ncclUniqueId const& id) {
    cudaSetDevice(1);
    ncclComm_t comm = nullptr;
    _exit(ncclCommInitRank(&comm, 2, id, 1) == ncclSuccess ? 0 : 1);
}

TEST_F(Faults, APeerThatIsGoneIsARemoteErrorAndAbortFreesTheStream) {
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    pid_t const child = fork();
    if (child == 0) {
        come_and_go(id);
    }
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclSuccess);
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    void* data = nullptr;
    cudaMalloc(&data, 4);
    ncclRecv(data, 1, ncclInt32, 1, comm, stream);
    ncclResult_t state = ncclSuccess;
    while (state == ncclSuccess) {
        ASSERT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
        usleep(1000);
    }
    EXPECT_EQ(state, ncclRemoteError);
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady) << "what waits goes on waiting until it is aborted";
    EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    cudaStreamDestroy(stream);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dlmb::fake_gpu

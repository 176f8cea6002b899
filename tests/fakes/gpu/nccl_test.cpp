// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

namespace dlmb::fake_gpu {
namespace {

TEST(Nccl, ReducesInTheOrderOfRanksSoThatAllAgree) {
    run_ranks(3, [](RankOfTest const& me) {
        // (1 + 1e8) + -1e8 = 0 in float, and 1 in other orders.
        float const operands[] = {1, 1e8F, -1e8F};
        float result = -1;
        void* data = nullptr;
        cudaMalloc(&data, sizeof result);
        cudaMemcpy(data, &operands[me.rank], sizeof result, cudaMemcpyDefault);
        EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
        me.wait();
        cudaMemcpy(&result, data, sizeof result, cudaMemcpyDefault);
        EXPECT_EQ(result, 0);
        cudaFree(data);
    });
}

TEST(Nccl, PlacesEveryPartOfEveryCollective) {
    run_ranks(2, [](RankOfTest const& me) {
        DeviceInts const send({10 * me.rank, 10 * me.rank + 1});
        DeviceInts const recv({-1, -1});
        auto const result = [&](ncclResult_t code) {
            EXPECT_EQ(code, ncclSuccess);
            me.wait();
            return recv.values();
        };
        EXPECT_EQ(result(ncclAllGather(send.data(), recv.data(), 1, ncclInt32, me.comm, me.stream)),
                  (std::vector{0, 10}));
        EXPECT_EQ(result(ncclAlltoAll(send.data(), recv.data(), 1, ncclInt32, me.comm, me.stream)),
                  (std::vector{me.rank, 10 + me.rank}));
        EXPECT_EQ(result(ncclReduceScatter(send.data(), recv.data(), 1, ncclInt32, ncclMax, me.comm, me.stream)),
                  (std::vector{10 + me.rank, 10 + me.rank}));
        EXPECT_EQ(result(ncclBroadcast(send.data(), recv.data(), 2, ncclInt32, 1, me.comm, me.stream)),
                  (std::vector{10, 11}));
        EXPECT_EQ(result(ncclReduce(send.data(), recv.data(), 2, ncclInt32, ncclSum, 0, me.comm, me.stream)),
                  (me.rank == 0 ? std::vector{10, 12} : std::vector{10, 11}));
    });
}

TEST(Nccl, MessagesOfAGroupProgressTogetherAndInOrder) {
    constexpr std::size_t count = 100'000;  // more than a ring holds
    run_ranks(2, [](RankOfTest const& me) {
        int const peer = 1 - me.rank;
        DeviceInts const sent(std::vector<int>(count, 10 + me.rank));
        DeviceInts const then({20 + me.rank});
        DeviceInts const got(std::vector<int>(count, 0));
        DeviceInts const got_then({0});
        ncclGroupStart();
        ncclSend(sent.data(), count, ncclInt32, peer, me.comm, me.stream);
        ncclSend(then.data(), 1, ncclInt32, peer, me.comm, me.stream);
        ncclRecv(got.data(), count, ncclInt32, peer, me.comm, me.stream);
        ncclRecv(got_then.data(), 1, ncclInt32, peer, me.comm, me.stream);
        EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
        me.wait();
        EXPECT_EQ(got.values(), std::vector<int>(count, 10 + peer));
        EXPECT_EQ(got_then.values(), std::vector{20 + peer});
    });
}

TEST(Nccl, OneCommunicatorKeepsItsOrderInSeveralStreams) {
    run_ranks(2, [](RankOfTest const& me) {
        cudaStream_t other = nullptr;
        cudaStreamCreate(&other);
        DeviceInts const ints({1});
        for (int i = 0; i < 20; ++i) {
            cudaStream_t const stream = i % 2 == 0 ? me.stream : other;
            EXPECT_EQ(ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, me.comm, stream), ncclSuccess);
        }
        cudaStreamSynchronize(other);
        EXPECT_EQ(ints.values(), std::vector{1 << 20});
        cudaStreamDestroy(other);
    });
}

TEST(Nccl, SplitsByColourAndOrdersByKey) {
    run_ranks(4, [](RankOfTest const& me) {
        ncclComm_t half = nullptr;
        ASSERT_EQ(ncclCommSplit(me.comm, me.rank % 2, -me.rank, &half, nullptr), ncclSuccess);
        int ranks = 0;
        int rank = -1;
        ncclCommCount(half, &ranks);
        ncclCommUserRank(half, &rank);
        EXPECT_EQ(ranks, 2);
        EXPECT_EQ(rank, me.rank < 2 ? 1 : 0);
        DeviceInts const ints({me.rank});
        EXPECT_EQ(ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, half, me.stream), ncclSuccess);
        me.wait();
        EXPECT_EQ(ints.values(), std::vector{me.rank % 2 == 0 ? 2 : 4});
        ncclCommDestroy(half);
    });
}

TEST(Nccl, WorksInsideAGraph) {
    run_ranks(2, [](RankOfTest const& me) {
        DeviceInts const ints({1});
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t execution = nullptr;
        cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal);
        ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, me.comm, me.stream);
        ASSERT_EQ(cudaStreamEndCapture(me.stream, &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&execution, graph, 0), cudaSuccess);
        for (int replay = 0; replay < 5; ++replay) {
            cudaGraphLaunch(execution, me.stream);
        }
        me.wait();
        EXPECT_EQ(ints.values(), std::vector{32});
        cudaGraphExecDestroy(execution);
        cudaGraphDestroy(graph);
    });
}

TEST(Nccl, WindowsNeedMemoryOfNccl) {
    run_ranks(2, [](RankOfTest const& me) {
        ncclWindow_t window = nullptr;
        DeviceInts const ints({1});
        EXPECT_EQ(ncclCommWindowRegister(me.comm, ints.data(), 4, &window, NCCL_WIN_COLL_SYMMETRIC),
                  ncclInvalidArgument);
        void* data = nullptr;
        ASSERT_EQ(ncclMemAlloc(&data, 4096), ncclSuccess);
        EXPECT_EQ(ncclCommWindowRegister(me.comm, data, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
        EXPECT_NE(window, nullptr);
        EXPECT_EQ(ncclCommWindowDeregister(me.comm, window), ncclSuccess);
        EXPECT_EQ(ncclMemFree(data), ncclSuccess);
    });
}

}  // namespace
}  // namespace dlmb::fake_gpu

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the real libraries would refuse, or punish with a hang or wrong data, is noticed. What they do right, the tests
// of the project on the double show: conformance_nccl, nccl_on_double and nccl_puts_on_double.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

namespace dlmb::fake_gpu {
namespace {

/// Memory of the device with an int in each element.
class DeviceInts {
public:
    explicit DeviceInts(std::vector<int> const& values) {
        std::size_t const bytes = values.size() * sizeof(int);
        EXPECT_EQ(cudaMalloc(&data_, bytes), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    }
    DeviceInts(DeviceInts const&) = delete;
    DeviceInts& operator=(DeviceInts const&) = delete;
    ~DeviceInts() { cudaFree(data_); }
    [[nodiscard]] void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

struct RankOfTest {
    int rank = 0;
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;

    void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }
};

/// `body` on every rank, with blocking communicators.
void run_ranks(int ranks, std::function<void(RankOfTest const&)> const& body) {
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            RankOfTest me{rank, nullptr, nullptr};
            ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
            ASSERT_EQ(cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking), cudaSuccess);
            ASSERT_EQ(ncclCommInitRank(&me.comm, ranks, id, rank), ncclSuccess);
            body(me);
            ncclCommDestroy(me.comm);
            cudaStreamDestroy(me.stream);
        });
    }
    std::for_each(threads.begin(), threads.end(), [](std::thread& thread) { thread.join(); });
}

/// An int in each element, in memory of NCCL and a window that all ranks have.
class WindowInts {
public:
    WindowInts(RankOfTest const& me, std::size_t count) : comm_(me.comm) {
        EXPECT_EQ(ncclMemAlloc(&data_, count * sizeof(int)), ncclSuccess);
        EXPECT_EQ(ncclCommWindowRegister(comm_, data_, count * sizeof(int), &window_, NCCL_WIN_COLL_SYMMETRIC),
                  ncclSuccess);
    }
    WindowInts(WindowInts const&) = delete;
    WindowInts& operator=(WindowInts const&) = delete;
    ~WindowInts() {
        EXPECT_EQ(ncclCommWindowDeregister(comm_, window_), ncclSuccess);
        EXPECT_EQ(ncclMemFree(data_), ncclSuccess);
    }
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] ncclWindow_t window() const { return window_; }

private:
    ncclComm_t comm_;
    void* data_ = nullptr;
    ncclWindow_t window_ = nullptr;
};

ncclResult_t signal(RankOfTest const& me) {
    return ncclSignal(0, 0, 0, 0, me.comm, me.stream);
}

ncclResult_t wait_for(RankOfTest const& me, int count) {
    ncclWaitSignalDesc_t awaited{count, 0, 0, 0};
    return ncclWaitSignal(1, &awaited, me.comm, me.stream);
}

/// From the first int of rank 0 to `offset` in its window.
ncclResult_t put(RankOfTest const& me, void const* data, ncclWindow_t window, std::size_t offset = 0) {
    return ncclPutSignal(data, 1, ncclInt32, 0, window, offset, 0, 0, 0, me.comm, me.stream);
}

/// Ends the process with `message`.
struct Misuse {
    char const* name;
    int ranks;
    std::function<void(RankOfTest const&)> body;
    char const* message;
};

std::vector<Misuse> const misuses{
    {"EndsOfAMessageDisagree", 2,
     [](RankOfTest const& me) {
         DeviceInts const ints({1, 2, 3});
         if (me.rank == 0) {
             ncclSend(ints.data(), 3, ncclInt32, 1, me.comm, me.stream);
         } else {
             ncclRecv(ints.data(), 2, ncclInt32, 0, me.comm, me.stream);
         }
         me.wait();
     },
     "rank 0 sends 12 B to rank 1, which expects 8 B"},
    {"DifferentOperationsMeet", 2,
     [](RankOfTest const& me) {
         DeviceInts const ints({1, 2});
         ncclRedOp_t const reduction = me.rank == 0 ? ncclSum : ncclMax;
         ncclAllReduce(ints.data(), ints.data(), 2, ncclInt32, reduction, me.comm, me.stream);
         me.wait();
     },
     "is in ncclAllReduce .*reduction 2.*sends it data of ncclAllReduce .*reduction 0|"
     "is in ncclAllReduce .*reduction 0.*sends it data of ncclAllReduce .*reduction 2"},
    {"HostMemoryIsSent", 1,
     [](RankOfTest const& me) {
         int value = 1;
         ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, me.comm, me.stream);
     },
     "ncclAllReduce, send buffer: .* is not device memory"},
    {"ACopyGoesBeyondAnAllocation", 1,
     [](RankOfTest const&) {
         DeviceInts const ints({1, 2});
         std::vector<int> more(3);
         cudaMemcpy(more.data(), ints.data(), 12, cudaMemcpyDefault);
     },
     "12 B from byte 0 of an allocation of 8 B"},
    {"AWaitStandsInAnOpenGroup", 1,
     [](RankOfTest const&) {
         ncclGroupStart();
         cudaStreamSynchronize(nullptr);
     },
     "ncclGroupEnd is missing"},
    {"AGroupHasOneCommunicatorOnTwoStreams", 1,
     [](RankOfTest const& me) {
         DeviceInts const ints({1});
         ncclGroupStart();
         for (cudaStream_t const stream : {me.stream, cudaStream_t{}}) {
             ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, me.comm, stream);
         }
     },
     "one communicator on two streams in a group"},
    {"AMessageToOneselfIsAlone", 1,
     [](RankOfTest const& me) {
         DeviceInts const ints({1});
         ncclSend(ints.data(), 1, ncclInt32, 0, me.comm, me.stream);
     },
     "rank 0 sends itself 1 and receives 0 messages in one group"},
    {"ACommunicatorIsUsedAfterItsAbort", 1,
     [](RankOfTest const& me) {
         ncclResult_t state = ncclSuccess;
         ncclCommAbort(me.comm);
         ncclCommGetAsyncError(me.comm, &state);
     },
     "ncclCommGetAsyncError: a communicator that was destroyed, aborted or never made"},
    {"APutGoesBehindTheEndOfAWindow", 1,
     [](RankOfTest const& me) {
         WindowInts const ints(me, 1);
         (void)put(me, ints.data(), ints.window(), sizeof(int));
         me.wait();
     },
     "rank 0 puts 4 B at 4 of a window of rank 0, which has 4 B"},
    {"WaitsStandAmongPutsOfAGroup", 1,
     [](RankOfTest const& me) {
         WindowInts const ints(me, 1);
         ncclGroupStart();
         (void)put(me, ints.data(), ints.window());
         (void)wait_for(me, 1);
         ncclGroupEnd();
     },
     "a group has puts and waits"},
    {"ASignalIsCaptured", 1,
     [](RankOfTest const& me) {
         WindowInts const ints(me, 1);
         cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal);
         (void)signal(me);
     },
     "ncclSignal in a graph"},
};

class WrongUse : public testing::TestWithParam<Misuse> {};

TEST_P(WrongUse, EndsTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(run_ranks(GetParam().ranks, GetParam().body), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Where, WrongUse, testing::ValuesIn(misuses),
                         [](auto const& test) { return std::string(test.param.name); });

TEST(Refusals, OfNccl) {
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    run_ranks(1, [](RankOfTest const& me) {
        EXPECT_EQ(signal(me), ncclInvalidUsage) << "no window was registered";
        WindowInts const ints(me, 1);
        DeviceInts const elsewhere({1});
        ncclWindow_t window = nullptr;
        EXPECT_EQ(ncclCommWindowRegister(me.comm, elsewhere.data(), 4, &window, NCCL_WIN_COLL_SYMMETRIC),
                  ncclInvalidArgument)
            << "not memory of NCCL";
        EXPECT_EQ(put(me, elsewhere.data(), ints.window()), ncclInvalidArgument) << "no window holds the source";
        EXPECT_EQ(put(me, ints.data(), nullptr), ncclInvalidArgument);
        EXPECT_EQ(ncclSignal(0, 1, 0, 0, me.comm, me.stream), ncclInvalidArgument) << "there is one signal";
        EXPECT_EQ(ncclSignal(0, 0, 1, 0, me.comm, me.stream), ncclInvalidArgument) << "and one context";
        EXPECT_EQ(wait_for(me, 0), ncclInvalidArgument);
    });
}

TEST(Refusals, OfACallOnANonBlockingCommunicatorBeforeThePreviousOneIsThrough) {
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInProgress);
    DeviceInts const ints({5});
    auto const all_reduce = [&] {
        return ncclAllReduce(ints.data(), ints.data(), 1, ncclInt32, ncclSum, comm, nullptr);
    };
    EXPECT_EQ(all_reduce(), ncclInvalidArgument);
    for (ncclResult_t state = ncclInProgress; state == ncclInProgress;) {
        ncclCommGetAsyncError(comm, &state);
    }
    EXPECT_EQ(all_reduce(), ncclInProgress);
    EXPECT_EQ(all_reduce(), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Refusals, OfTwoRanksOnOneDevice) {
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

TEST(Refusals, OfACapture) {
    run_ranks(1, [](RankOfTest const& me) {
        cudaGraph_t graph = nullptr;
        void* data = nullptr;
        cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal);
        EXPECT_EQ(cudaMalloc(&data, 8), cudaErrorStreamCaptureUnsupported);
        EXPECT_EQ(cudaStreamSynchronize(me.stream), cudaErrorStreamCaptureUnsupported);
        EXPECT_EQ(cudaStreamEndCapture(me.stream, &graph), cudaErrorStreamCaptureInvalidated);
        EXPECT_EQ(graph, nullptr);

        cudaEvent_t event = nullptr;
        cudaStream_t other = nullptr;
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        DeviceInts const ints({0});
        cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal);
        cudaEventRecord(event, me.stream);
        EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
        cudaStreamWaitEvent(other, event, 0);
        cudaMemsetAsync(ints.data(), 1, sizeof(int), other);
        EXPECT_EQ(cudaStreamEndCapture(me.stream, &graph), cudaErrorStreamCaptureUnjoined);
        cudaStreamDestroy(other);
        cudaEventDestroy(event);
    });
}

}  // namespace
}  // namespace dlmb::fake_gpu

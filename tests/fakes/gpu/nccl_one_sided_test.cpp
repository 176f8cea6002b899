// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

#include <barrier>
#include <cstdlib>

namespace dlmb::fake_gpu {
namespace {

/// Ints in a window that all ranks have.
class WindowInts {
public:
    WindowInts(RankOfTest const& me, std::vector<int> const& values) : comm_(me.comm), count_(values.size()) {
        EXPECT_EQ(ncclMemAlloc(&data_, bytes()), ncclSuccess);
        EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyDefault), cudaSuccess);
        EXPECT_EQ(ncclCommWindowRegister(comm_, data_, bytes(), &window_, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
    }
    WindowInts(WindowInts const&) = delete;
    WindowInts& operator=(WindowInts const&) = delete;
    ~WindowInts() {
        EXPECT_EQ(ncclCommWindowDeregister(comm_, window_), ncclSuccess);
        EXPECT_EQ(ncclMemFree(data_), ncclSuccess);
    }
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] ncclWindow_t window() const { return window_; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(int); }
    [[nodiscard]] std::vector<int> values() const {
        std::vector<int> found(count_);
        EXPECT_EQ(cudaMemcpy(found.data(), data_, bytes(), cudaMemcpyDefault), cudaSuccess);
        return found;
    }

private:
    ncclComm_t comm_;
    void* data_ = nullptr;
    std::size_t count_;
    ncclWindow_t window_ = nullptr;
};

ncclResult_t signal(RankOfTest const& me, int peer) {
    return ncclSignal(peer, 0, 0, 0, me.comm, me.stream);
}

ncclResult_t wait_for(RankOfTest const& me, int peer, int count) {
    ncclWaitSignalDesc_t awaited{count, peer, 0, 0};
    return ncclWaitSignal(1, &awaited, me.comm, me.stream);
}

ncclResult_t put(RankOfTest const& me, WindowInts const& from, int peer, WindowInts const& to, std::size_t offset = 0) {
    return ncclPutSignal(from.data(), from.count(), ncclInt32, peer, to.window(), offset, 0, 0, 0, me.comm, me.stream);
}

/// The first one-sided call sets up all ranks.
void set_up(RankOfTest const& me) {
    EXPECT_EQ(signal(me, me.rank), ncclSuccess);
    EXPECT_EQ(wait_for(me, me.rank, 1), ncclSuccess);
}

TEST(NcclOneSided, APutIsInTheWindowBeforeItsSignalIsSeen) {
    constexpr std::size_t count = 100'000;  // more than a ring holds
    run_ranks(2, [](RankOfTest const& me) {
        WindowInts const sent(me, std::vector<int>(count, 7));
        WindowInts const got(me, std::vector<int>(count + 1, 0));
        set_up(me);
        if (me.rank == 0) {
            EXPECT_EQ(put(me, sent, 1, got, sizeof(int)), ncclSuccess);
        } else {
            EXPECT_EQ(wait_for(me, 0, 1), ncclSuccess);
        }
        me.wait();
        std::vector<int> expected(count + 1, me.rank == 0 ? 0 : 7);
        expected.front() = 0;
        EXPECT_EQ(got.values(), expected);
    });
}

TEST(NcclOneSided, AWaitTakesAsManySignalsOfItsPeerAsItNames) {
    std::barrier both(2);
    run_ranks(2, [&](RankOfTest const& me) {
        WindowInts const ints(me, {1});
        set_up(me);
        if (me.rank == 0) {
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(signal(me, 1), ncclSuccess);
            }
            me.wait();
            both.arrive_and_wait();
            both.arrive_and_wait();
            EXPECT_EQ(signal(me, 1), ncclSuccess);
            me.wait();
        } else {
            both.arrive_and_wait();
            EXPECT_EQ(wait_for(me, 0, 1), ncclSuccess);
            me.wait();
            EXPECT_EQ(wait_for(me, 0, 3), ncclSuccess);
            EXPECT_EQ(cudaStreamQuery(me.stream), cudaErrorNotReady) << "one signal is missing";
            both.arrive_and_wait();
            me.wait();
        }
    });
}

TEST(NcclOneSided, ArgumentsThatNcclRefuses) {
    run_ranks(1, [](RankOfTest const& me) {
        EXPECT_EQ(signal(me, 0), ncclInvalidUsage) << "no window was registered";
        WindowInts const ints(me, {1});
        DeviceInts const elsewhere({1});
        EXPECT_EQ(ncclPutSignal(elsewhere.data(), 1, ncclInt32, 0, ints.window(), 0, 0, 0, 0, me.comm, me.stream),
                  ncclInvalidArgument)
            << "no window holds the source";
        EXPECT_EQ(ncclPutSignal(ints.data(), 1, ncclInt32, 0, nullptr, 0, 0, 0, 0, me.comm, me.stream),
                  ncclInvalidArgument);
        EXPECT_EQ(ncclSignal(0, 1, 0, 0, me.comm, me.stream), ncclInvalidArgument) << "there is one signal";
        EXPECT_EQ(ncclSignal(0, 0, 1, 0, me.comm, me.stream), ncclInvalidArgument) << "and one context";
        EXPECT_EQ(wait_for(me, 0, 0), ncclInvalidArgument);
    });
}

TEST(NcclOneSided, SignalsThatOvertakeTheirPayloadWhereATestWantsThat) {
    setenv("DLMB_FAKE_NCCL_ONE_SIDED", "overtaken", 1);
    run_ranks(1, [](RankOfTest const& me) {
        WindowInts const sent(me, {7});
        WindowInts const got(me, {0});
        EXPECT_EQ(put(me, sent, 0, got), ncclSuccess);
        EXPECT_EQ(wait_for(me, 0, 1), ncclSuccess);
        me.wait();
        EXPECT_EQ(got.values(), std::vector{0});
        set_up(me);
        me.wait();
        EXPECT_EQ(got.values(), std::vector{7});
    });
    unsetenv("DLMB_FAKE_NCCL_ONE_SIDED");
}

class OneSidedFaults : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OneSidedFaults, APutBehindTheEndOfAWindowEndsTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               WindowInts const ints(me, {1, 2});
                               (void)put(me, ints, 0, ints, sizeof(int));
                               me.wait();
                           }),
                 "rank 0 puts 8 B at 4 of a window of rank 0, which has 8 B");
}

TEST_F(OneSidedFaults, WaitsAmongPutsOfAGroupEndTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               WindowInts const ints(me, {1});
                               ncclGroupStart();
                               (void)put(me, ints, 0, ints);
                               (void)wait_for(me, 0, 1);
                               ncclGroupEnd();
                           }),
                 "a group has puts and waits");
}

TEST_F(OneSidedFaults, CapturedCallsEndTheProcess) {
    EXPECT_DEATH(run_ranks(1,
                           [](RankOfTest const& me) {
                               WindowInts const ints(me, {1});
                               cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal);
                               (void)signal(me, 0);
                           }),
                 "ncclSignal in a graph");
}

}  // namespace
}  // namespace dlmb::fake_gpu

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

#include <future>

namespace dlmb::fake_gpu {
namespace {

/// Work that a stream stands at until the test lets it go on.
struct Gate {
    std::promise<void> opened;
    std::shared_future<void> open = opened.get_future().share();
    static void wait(void* gate) { static_cast<Gate*>(gate)->open.wait(); }
};

class Streams : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(cudaStreamCreate(&first), cudaSuccess);
        ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
        ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
    }
    void TearDown() override {
        cudaStreamDestroy(first);
        cudaStreamDestroy(second);
        cudaEventDestroy(event);
    }
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    cudaEvent_t event = nullptr;
    Gate gate;
};

TEST_F(Streams, TheHostGoesOnWhileTheStreamStandsStill) {
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "was never recorded";
    cudaLaunchHostFunc(first, Gate::wait, &gate);
    cudaEventRecord(event, first);
    EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamQuery(first), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamQuery(second), cudaSuccess);
    gate.opened.set_value();
    EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(first), cudaSuccess);
}

TEST_F(Streams, AStreamWaitsForAnEventOfAnother) {
    DeviceInts const ints({0});
    cudaLaunchHostFunc(first, Gate::wait, &gate);
    cudaMemsetAsync(ints.data(), 1, sizeof(int), first);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    cudaMemsetAsync(ints.data(), 2, 1, second);
    EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
    gate.opened.set_value();
    EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_EQ(ints.values(), std::vector{0x01010102});
}

TEST_F(Streams, PageableMemoryIsReadBeforeTheCopyReturns) {
    DeviceInts const ints({0});
    int value = 7;
    cudaLaunchHostFunc(first, Gate::wait, &gate);
    cudaMemcpyAsync(ints.data(), &value, sizeof value, cudaMemcpyDefault, first);
    value = 8;
    gate.opened.set_value();
    cudaStreamSynchronize(first);
    EXPECT_EQ(ints.values(), std::vector{7});
}

TEST_F(Streams, TimeBetweenEventsNeedsBothReachedAndTiming) {
    cudaEvent_t untimed = nullptr;
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    float milliseconds = -1;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle) << "never recorded";
    cudaEventRecord(event, first);
    cudaEventRecord(untimed, first);
    cudaStreamSynchronize(first);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaSuccess);
    EXPECT_EQ(milliseconds, 0);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, untimed), cudaErrorInvalidResourceHandle);
    cudaEventDestroy(untimed);
}

TEST(Memory, IsKnownByItsAddressAndLimited) {
    DeviceInts const ints({1, 2, 3});
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, static_cast<int*>(ints.data()) + 2);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    cudaPointerGetAttributes(&attributes, &attributes);
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
    void* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, std::size_t{1} << 40), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaFree(&attributes), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Memory, CanBeClosedToTheProgram) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            setenv("DLMB_FAKE_GPU_PROTECT", "1", 1);
            DeviceInts const ints({41});
            if (ints.values() == std::vector{41}) {
                static_cast<int*>(ints.data())[0] = 1;
            }
        },
        testing::KilledBySignal(SIGSEGV), "");
}

TEST(Memory, CopiesBeyondAnAllocationEndTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            DeviceInts const ints({1, 2});
            std::vector<int> more(3);
            cudaMemcpy(more.data(), ints.data(), 12, cudaMemcpyDefault);
        },
        "12 B from byte 0 of an allocation of 8 B");
}

}  // namespace
}  // namespace dlmb::fake_gpu

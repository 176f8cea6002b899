// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/rig.hpp"

namespace dlmb::fake_gpu {
namespace {

class Graphs : public testing::Test {
protected:
    void SetUp() override {
        cudaStreamCreate(&first);
        cudaStreamCreate(&second);
        cudaEventCreate(&fork);
        cudaEventCreate(&join);
    }
    void TearDown() override {
        for (cudaStream_t const stream : {first, second}) {
            cudaStreamDestroy(stream);
        }
        cudaEventDestroy(fork);
        cudaEventDestroy(join);
        cudaGetLastError();
    }
    void begin() const { ASSERT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess); }
    void take_second_in() const {
        cudaEventRecord(fork, first);
        ASSERT_EQ(cudaStreamWaitEvent(second, fork, 0), cudaSuccess);
    }

    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    cudaEvent_t fork = nullptr;
    cudaEvent_t join = nullptr;
    cudaGraph_t graph = nullptr;
};

TEST_F(Graphs, ReplayWhatSeveralStreamsWereToldAndNothingBefore) {
    DeviceInts const ints({0, 0});
    auto* const bytes = static_cast<std::byte*>(ints.data());
    begin();
    cudaMemsetAsync(bytes, 1, 8, first);
    take_second_in();
    cudaMemsetAsync(bytes + 4, 2, 1, second);
    cudaMemsetAsync(bytes, 3, 1, first);
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
    EXPECT_EQ(ints.values(), (std::vector{0, 0})) << "capturing does not work";

    cudaGraphExec_t execution = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&execution, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 3; ++replay) {
        cudaMemset(ints.data(), 0, 8);
        cudaDeviceSynchronize();
        EXPECT_EQ(cudaGraphLaunch(execution, first), cudaSuccess);
        cudaStreamSynchronize(first);
        EXPECT_EQ(ints.values(), (std::vector{0x01010103, 0x01010102}));
    }
    cudaGraphExecDestroy(execution);
    cudaGraphDestroy(graph);
}

TEST_F(Graphs, AnExternalEventIsRecordedWhenAReplayComesToIt) {
    begin();
    cudaEventRecordWithFlags(fork, first, cudaEventRecordExternal);
    ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
    cudaGraphExec_t execution = nullptr;
    cudaGraphInstantiate(&execution, graph, 0);
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, fork, fork), cudaErrorInvalidResourceHandle) << "not yet recorded";
    cudaGraphLaunch(execution, first);
    cudaStreamSynchronize(first);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, fork, fork), cudaSuccess);
    cudaGraphExecDestroy(execution);
    cudaGraphDestroy(graph);
}

TEST_F(Graphs, AStreamThatWasNotJoinedIsAnError) {
    begin();
    take_second_in();
    cudaLaunchHostFunc(
        second, [](void*) {}, nullptr);
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Graphs, WaitingOrAllocatingSpoilsACapture) {
    begin();
    void* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, 8), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
}

TEST_F(Graphs, AnEventOfACaptureCannotBeAskedFor) {
    begin();
    cudaEventRecord(fork, first);
    EXPECT_EQ(cudaEventQuery(fork), cudaErrorCapturedEvent);
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace dlmb::fake_gpu

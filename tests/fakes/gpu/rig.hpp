// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of the double share: threads as ranks, each with a device, a stream and a communicator.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

namespace dlmb::fake_gpu {

/// Memory of the device with an int in each element.
class DeviceInts {
public:
    explicit DeviceInts(std::vector<int> const& values) : count_(values.size()) {
        EXPECT_EQ(cudaMalloc(&data_, count_ * sizeof(int)), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(data_, values.data(), count_ * sizeof(int), cudaMemcpyDefault), cudaSuccess);
    }
    DeviceInts(DeviceInts const&) = delete;
    DeviceInts& operator=(DeviceInts const&) = delete;
    ~DeviceInts() { cudaFree(data_); }
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::vector<int> values() const {
        std::vector<int> found(count_);
        EXPECT_EQ(cudaMemcpy(found.data(), data_, count_ * sizeof(int), cudaMemcpyDefault), cudaSuccess);
        return found;
    }

private:
    void* data_ = nullptr;
    std::size_t count_;
};

struct RankOfTest {
    int rank = 0;
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;

    void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }
};

/// `body` on every rank, with blocking communicators.
inline void run_ranks(int ranks, std::function<void(RankOfTest const&)> const& body) {
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            RankOfTest me{rank, nullptr, nullptr};
            ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
            ASSERT_EQ(cudaStreamCreate(&me.stream), cudaSuccess);
            ASSERT_EQ(ncclCommInitRank(&me.comm, ranks, id, rank), ncclSuccess);
            body(me);
            ncclCommDestroy(me.comm);
            cudaStreamDestroy(me.stream);
        });
    }
    std::for_each(threads.begin(), threads.end(), [](std::thread& thread) { thread.join(); });
}

/// Asks for the state until it is no longer ncclInProgress; how often it was counts.
inline int questions_until_ready(ncclComm_t comm) {
    ncclResult_t state = ncclInProgress;
    int questions = 0;
    while (state == ncclInProgress) {
        EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
        ++questions;
    }
    EXPECT_EQ(state, ncclSuccess);
    return questions;
}

}  // namespace dlmb::fake_gpu

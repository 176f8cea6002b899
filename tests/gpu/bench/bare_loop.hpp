// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The hand-written loop: ncclAllReduce on a communicator of its own, as nccl-tests would write it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace dlmb::benchmark {

class BareLoop {
public:
    /// Collective. On the device that this thread uses.
    explicit BareLoop(Bootstrap& bootstrap);
    BareLoop(BareLoop const&) = delete;
    BareLoop& operator=(BareLoop const&) = delete;
    ~BareLoop();
    /// Sums of fp32; the host waits for the end of each.
    void all_reduce(std::byte const* from, std::byte* to, Bytes bytes, int iterations);

private:
    ncclComm_t communicator_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t done_ = nullptr;
};

}  // namespace dlmb::benchmark

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The hand-written loop that a plan is held against: NCCL calls on a communicator and a stream of its own, as
// nccl-tests and PyTorch make them.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <functional>
#include <span>
#include <vector>

namespace dlmb::benchmark {

/// Part of a buffer that goes to a peer or comes from one.
struct BareBlock {
    std::byte* data = nullptr;
    Bytes bytes = 0;
    int peer = 0;
};

class BareLoop {
public:
    using Call = std::function<void(ncclComm_t, cudaStream_t)>;
    enum class Wait { after_each, at_end };

    /// Collective. On the device that this thread uses.
    explicit BareLoop(Bootstrap& bootstrap);
    BareLoop(BareLoop const&) = delete;
    BareLoop& operator=(BareLoop const&) = delete;
    ~BareLoop();

    void run(Call const& call, int iterations, Wait wait);
    void wait();
    [[nodiscard]] cudaStream_t stream() const { return stream_; }
    [[nodiscard]] ncclComm_t communicator() const { return communicator_; }

private:
    ncclComm_t communicator_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t done_ = nullptr;
};

/// Throw Error unless the call succeeded.
void require(ncclResult_t code, char const* call);
void require(cudaError_t code, char const* call);

/// One group: to a peer, from a peer, to the next one.
void exchange(std::span<BareBlock const> sends, std::span<BareBlock const> receives, ncclComm_t communicator,
              cudaStream_t stream);

}  // namespace dlmb::benchmark

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/bench/bare_loop.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::benchmark {

void require(ncclResult_t code, char const* call) {
    if (code != ncclSuccess) {
        throw Error(fmt::format("{}: {}", call, ncclGetErrorString(code)));
    }
}

void require(cudaError_t code, char const* call) {
    if (code != cudaSuccess) {
        throw Error(fmt::format("{}: {}", call, cudaGetErrorString(code)));
    }
}

BareLoop::BareLoop(Bootstrap& bootstrap) {
    ncclUniqueId id{};
    Blob blob(sizeof id);
    if (bootstrap.rank() == 0) {
        require(ncclGetUniqueId(&id), "ncclGetUniqueId");
        std::memcpy(blob.data(), &id, sizeof id);
    }
    bootstrap.broadcast(blob, 0);
    std::memcpy(&id, blob.data(), sizeof id);
    require(ncclCommInitRank(&communicator_, bootstrap.size(), id, bootstrap.rank()), "ncclCommInitRank");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    require(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
}

BareLoop::~BareLoop() {
    cudaEventDestroy(done_);
    cudaStreamDestroy(stream_);
    ncclCommDestroy(communicator_);
}

void BareLoop::run(Call const& call, int iterations, Wait wait_for) {
    for (int i = 0; i < iterations; ++i) {
        call(communicator_, stream_);
        if (wait_for == Wait::after_each) {
            wait();
        }
    }
    if (wait_for == Wait::at_end) {
        wait();
    }
}

void BareLoop::wait() {
    require(cudaEventRecord(done_, stream_), "cudaEventRecord");
    cudaError_t code = cudaErrorNotReady;
    while (code == cudaErrorNotReady) {
        code = cudaEventQuery(done_);
    }
    require(code, "cudaEventQuery");
}

void exchange(std::span<BareBlock const> sends, std::span<BareBlock const> receives, ncclComm_t communicator,
              cudaStream_t stream) {
    require(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        if (i < sends.size()) {
            require(ncclSend(sends[i].data, sends[i].bytes, ncclUint8, sends[i].peer, communicator, stream),
                    "ncclSend");
        }
        if (i < receives.size()) {
            require(ncclRecv(receives[i].data, receives[i].bytes, ncclUint8, receives[i].peer, communicator, stream),
                    "ncclRecv");
        }
    }
    require(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace dlmb::benchmark

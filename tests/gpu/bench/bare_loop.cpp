// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/bench/bare_loop.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <cstring>

namespace dlmb::benchmark {
namespace {

void check(ncclResult_t code, std::string_view call) {
    if (code != ncclSuccess) {
        throw Error(fmt::format("{}: {}", call, ncclGetErrorString(code)));
    }
}

void check(cudaError_t code, std::string_view call) {
    if (code != cudaSuccess) {
        throw Error(fmt::format("{}: {}", call, cudaGetErrorString(code)));
    }
}

}  // namespace

BareLoop::BareLoop(Bootstrap& bootstrap) {
    ncclUniqueId id{};
    Blob blob(sizeof id);
    if (bootstrap.rank() == 0) {
        check(ncclGetUniqueId(&id), "ncclGetUniqueId");
        std::memcpy(blob.data(), &id, sizeof id);
    }
    bootstrap.broadcast(blob, 0);
    std::memcpy(&id, blob.data(), sizeof id);
    check(ncclCommInitRank(&communicator_, bootstrap.size(), id, bootstrap.rank()), "ncclCommInitRank");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
}

BareLoop::~BareLoop() {
    cudaEventDestroy(done_);
    cudaStreamDestroy(stream_);
    ncclCommDestroy(communicator_);
}

void BareLoop::all_reduce(std::byte const* from, std::byte* to, Bytes bytes, int iterations) {
    for (int i = 0; i < iterations; ++i) {
        check(ncclAllReduce(from, to, bytes / sizeof(float), ncclFloat, ncclSum, communicator_, stream_),
              "ncclAllReduce");
        check(cudaEventRecord(done_, stream_), "cudaEventRecord");
        cudaError_t code = cudaErrorNotReady;
        while (code == cudaErrorNotReady) {
            code = cudaEventQuery(done_);
        }
        check(code, "cudaEventQuery");
    }
}

}  // namespace dlmb::benchmark

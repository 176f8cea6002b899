// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/device.hpp"

#include "common/backends/nccl/check.hpp"

#include <fmt/core.h>

namespace dlmb::nccl {

Expected<int, Unsupported> choose_device(int local_rank) {
    int devices = 0;
    // Without a driver this is cudaErrorInsufficientDriver, not cudaErrorNoDevice, and the count stays untouched.
    cudaError_t const code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) {
        return Unsupported{fmt::format("no CUDA device: {} ({})", cudaGetErrorString(code), static_cast<int>(code))};
    }
    if (devices == 0) {
        return Unsupported{"no CUDA device: the driver reports none"};
    }
    if (local_rank >= devices) {
        return Unsupported{
            fmt::format("local rank {} has no GPU of its own: this node has {}; start as many ranks per node as GPUs",
                        local_rank, devices)};
    }
    check(cudaSetDevice(local_rank), "cudaSetDevice");
    return local_rank;
}

Stream::Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
Stream::~Stream() {
    cudaStreamDestroy(stream_);
}

Event::Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
}
Event::~Event() {
    if (event_ != nullptr) {
        cudaEventDestroy(event_);
    }
}

}  // namespace dlmb::nccl

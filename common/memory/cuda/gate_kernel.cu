// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/kernels.hpp"

namespace dlmb {
namespace {

__device__ long long device_time_ns() {
    long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

}  // namespace

extern "C" __global__ void dlmb_gate(GateState* state, unsigned ticket, long long patience_ns) {
    GateState volatile* const shared = state;
    long long const start = device_time_ns();
    while (shared->opened < ticket) {
        if (device_time_ns() - start > patience_ns) {
            shared->ran_out = 1;
            return;
        }
    }
}

void queue_gate(GateState* state, unsigned ticket, cudaStream_t stream) {
    dlmb_gate<<<1, 1, 0, stream>>>(state, ticket, DeviceGate::patience);
    check(cudaGetLastError(), "dlmb_gate");
}

}  // namespace dlmb

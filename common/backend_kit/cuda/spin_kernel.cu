// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/memory/cuda/cuda_check.hpp"

namespace dlmb {

extern "C" __global__ void dlmb_spin(long long cycles) {
    long long const start = clock64();
    while (clock64() - start < cycles) {
    }
}

void queue_spin(long long cycles, cudaStream_t stream) {
    dlmb_spin<<<1, 1, 0, stream>>>(cycles);
    check(cudaGetLastError(), "dlmb_spin");
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/block_codec/kernels.hpp"

namespace dlmb::codec_loop {

std::vector<Kernels> kernels_at_hand() {
    std::vector<Kernels> all{plain_kernels()};
    if (__builtin_cpu_supports("avx2") != 0) {
        all.push_back(avx2_kernels());
    }
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
        all.push_back(avx512_kernels());
    }
    return all;
}

}  // namespace dlmb::codec_loop

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/block_codec/kernels.hpp"

namespace dlmb::codec_loop {

Kernels widest_kernels() {
    bool const avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    if (avx512) {
        return avx512_kernels();
    }
    return __builtin_cpu_supports("avx2") != 0 ? avx2_kernels() : plain_kernels();
}

}  // namespace dlmb::codec_loop

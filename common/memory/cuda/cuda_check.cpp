// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/cuda/cuda_check.hpp"

#include <fmt/core.h>

namespace dlmb {

void check(cudaError_t code, std::string_view call, Where where) {
    if (code != cudaSuccess) {
        throw Error(fmt::format("{}: {} ({})", call, cudaGetErrorString(code), static_cast<int>(code)), where);
    }
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Return codes of the CUDA runtime become exceptions.
#pragma once

#include "common/base/error.hpp"

#include <cuda_runtime_api.h>

#include <string_view>

namespace dlmb {

void check(cudaError_t code, std::string_view call, Where where = Where::here());

/// The stream behind a DeviceQueue::native().
[[nodiscard]] inline cudaStream_t stream_of(void* native) {
    return static_cast<cudaStream_t>(native);
}

}  // namespace dlmb

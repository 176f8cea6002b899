// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What cudaGetLastError knows of this thread.
#pragma once

#include <cuda_runtime_api.h>

namespace dlmb::fake_gpu {

/// Remembers an error and hands it on.
cudaError_t remember(cudaError_t code);

}  // namespace dlmb::fake_gpu

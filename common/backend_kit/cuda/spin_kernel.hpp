// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

namespace dlmb {

/// One thread that watches the clock of its multiprocessor for `cycles`.
void queue_spin(long long cycles, cudaStream_t stream);

}  // namespace dlmb

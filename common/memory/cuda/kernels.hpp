// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that fill and check payload (payload.hpp), and the gate (device_gate.hpp).
#pragma once

#include "common/memory/device_gate.hpp"
#include "common/memory/payload.hpp"

#include <cuda_runtime_api.h>

namespace dlmb {

/// Queued on `stream`. Any alignment.
void queue_fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start, cudaStream_t stream);

/// Queued on `stream`: lowers *first_wrong (device memory, set by the caller to something above `bytes`) to the offset
/// of the first byte that differs.
void queue_check(std::byte const* data, Bytes bytes, PayloadKey key, Bytes start, unsigned long long* first_wrong,
                 cudaStream_t stream);

/// Queues one thread that waits for `ticket`, at most DeviceGate::patience.
void queue_gate(GateState* state, unsigned ticket, cudaStream_t stream);

}  // namespace dlmb

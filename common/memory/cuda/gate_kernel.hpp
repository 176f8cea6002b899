// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/memory/device_gate.hpp"

#include <cuda_runtime_api.h>

namespace dlmb {

/// Queues one thread that waits for `ticket`, at most DeviceGate::patience.
void queue_gate(GateState* state, unsigned ticket, cudaStream_t stream);

}  // namespace dlmb

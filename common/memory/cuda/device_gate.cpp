// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/device_gate.hpp"

#include "common/memory/cuda/cuda_allocation.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/gate_kernel.hpp"

#include <new>

namespace dlmb {

DeviceGate::DeviceGate() : memory_(allocate_cuda(MemoryKind::pinned, sizeof(GateState))) {
    new (memory_.data()) GateState;
}

void DeviceGate::close(DeviceQueue const& queue) {
    queue_gate(reinterpret_cast<GateState*>(memory_.data()), ++ticket_, stream_of(queue.native()));
}

void DeviceGate::open() {
    state().opened = ticket_;
}

bool DeviceGate::ran_out() const {
    return state().ran_out != 0;
}

GateState volatile& DeviceGate::state() const {
    return *reinterpret_cast<GateState volatile*>(memory_.data());
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Allocation and registration.
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/pinned_memory.hpp"
#include "tests/fakes/gpu/queue.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/stream.hpp"

using namespace dlmb::fake_gpu;

namespace {

cudaError_t allocate_as(void** address, std::size_t bytes, Kind kind) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    void* const data = allocate(bytes, kind);
    if (data == nullptr) {
        return remember(cudaErrorMemoryAllocation);
    }
    *address = data;
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
    return allocate_as(address, bytes, Kind::device);
}

cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned /*flags*/) {
    return allocate_as(address, bytes, Kind::managed);
}

/// Waits for the device, as the real one does.
cudaError_t cudaFree(void* data) {
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    drain_all_queues();
    return remember(data == nullptr || release(data) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned /*flags*/) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    return remember(pin(data, bytes) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* data) {
    drain_all_queues();
    return remember(unpin(data) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

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
#include "tests/fakes/gpu/thread_device.hpp"

using namespace dlmb::fake_gpu;

namespace {

cudaError_t give(void** address, void* data) {
    if (data == nullptr) {
        return remember(cudaErrorMemoryAllocation);
    }
    *address = data;
    return cudaSuccess;
}

cudaError_t allocate_as(void** address, std::size_t bytes, Kind kind) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    return give(address, allocate(bytes, kind));
}

cudaMemoryType type_of(void const* address, Block const* block) {
    if (block == nullptr) {
        return is_pinned(address, 1) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    }
    return block->kind == Kind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
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

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned /*flags*/) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    return give(address, allocate_pinned(bytes));
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
    return cudaHostAlloc(address, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* data) {
    drain_all_queues();
    return remember(data == nullptr || release_pinned(data) ? cudaSuccess : cudaErrorInvalidValue);
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

cudaError_t cudaHostGetDevicePointer(void** device_address, void* host, unsigned /*flags*/) {
    *device_address = host;
    return remember(is_pinned(host, 1) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* address) {
    auto const block = find_block(address);
    *attributes = {};
    attributes->type = type_of(address, block ? &*block : nullptr);
    attributes->device = block ? block->device : thread_device();
    void* const named = const_cast<void*>(address);
    bool const on_device = attributes->type != cudaMemoryTypeUnregistered;
    attributes->devicePointer = on_device ? named : nullptr;
    attributes->hostPointer = attributes->type == cudaMemoryTypeDevice || !on_device ? nullptr : named;
    return cudaSuccess;
}

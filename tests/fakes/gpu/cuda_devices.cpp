// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

using namespace dlmb::fake_gpu;

namespace {

constexpr std::string_view device_name = "DLMB test double (no GPU)";
constexpr int level_2_bytes = 50 << 20;

bool exists(int device) {
    return device >= 0 && device < device_count();
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
    *count = device_count();
    return remember(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    if (!exists(device)) {
        return remember(cudaErrorInvalidDevice);
    }
    set_thread_device(device);
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
    *device = thread_device();
    return remember(exists(*device) ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (!exists(device)) {
        return remember(cudaErrorInvalidDevice);
    }
    *properties = {};
    device_name.copy(properties->name, sizeof properties->name - 1);
    properties->totalGlobalMem = device_bytes;
    properties->l2CacheSize = level_2_bytes;
    properties->major = 9;  // from here on NCCL reduces fp8
    properties->minor = 0;
    properties->multiProcessorCount = 1;
    properties->unifiedAddressing = 1;
    properties->managedMemory = 1;
    properties->concurrentManagedAccess = 1;
    return cudaSuccess;
}

/// In a PCI domain that no machine has, so that no question about the place of a device is answered for another one.
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    if (!exists(device)) {
        return remember(cudaErrorInvalidDevice);
    }
    auto const id = fmt::format("D1B0:{:02X}:00.0", device + 1);
    if (length <= static_cast<int>(id.size())) {
        return remember(cudaErrorInvalidValue);
    }
    *std::copy(id.begin(), id.end(), text) = '\0';
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    if (!exists(device) || !exists(peer)) {
        return remember(cudaErrorInvalidDevice);
    }
    *can_access = device == peer ? 0 : 1;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = free_bytes(thread_device());
    *total = device_bytes;
    return cudaSuccess;
}

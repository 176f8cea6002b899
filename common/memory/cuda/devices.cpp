// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include "common/base/lower_case.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <fmt/core.h>

#include <array>
#include <fstream>

namespace dlmb {
namespace {

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string pci_bus_id(int device) {
    std::array<char, 32> text{};
    check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device), "cudaDeviceGetPCIBusId");
    return lower_case(text.data());
}

Device describe(int index, int count) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    Device device;
    device.index = index;
    device.name = properties.name;
    device.pci_bus_id = pci_bus_id(index);
    device.numa_node = numa_node_of_device(index);
    device.memory = properties.totalGlobalMem;
    device.cache = static_cast<Bytes>(properties.l2CacheSize);
    device.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
    for (int peer = 0; peer < count; ++peer) {
        int can_access = 0;
        if (peer != index) {
            check(cudaDeviceCanAccessPeer(&can_access, index, peer), "cudaDeviceCanAccessPeer");
        }
        if (can_access != 0) {
            device.peers.push_back(peer);
        }
    }
    return device;
}

}  // namespace

Devices find_devices() {
    Devices devices;
    int version = 0;
    check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
    devices.runtime_version = version_text(version);
    check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    devices.driver_version = version == 0 ? "none" : version_text(version);
    int count = 0;
    cudaError_t const code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        devices.why_none = fmt::format("no CUDA device: {}",
                                       code == cudaSuccess ? "the driver reports none" : cudaGetErrorString(code));
        return devices;
    }
    for (int index = 0; index < count; ++index) {
        devices.list.push_back(describe(index, count));
    }
    return devices;
}

int numa_node_of_device(int index) {
    std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id(index) + "/numa_node");
    int node = -1;
    return file >> node ? node : -1;
}

void use_device(int index) {
    check(cudaSetDevice(index), "cudaSetDevice");
}

Bytes free_device_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
}

}  // namespace dlmb

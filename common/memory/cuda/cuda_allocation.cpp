// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/cuda/cuda_allocation.hpp"

#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda_memory.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlmb {
namespace {

void release_device(std::byte* data, Bytes /*bytes*/) {
    cudaFree(data);
}

void release_pinned(std::byte* data, Bytes bytes) {
    cudaHostUnregister(data);
    release_host(data, bytes);
}

[[noreturn]] void out_of_memory(MemoryKind kind, Bytes bytes, cudaError_t code) {
    throw Error(fmt::format("{} memory: cannot allocate {} B ({}): {}; use smaller sizes or fewer ranks per device",
                            name_of(kind), bytes, human_bytes(bytes), cudaGetErrorString(code)));
}

/// Pages that are touched from now on come from `node` while it has any. A wish: where the kernel has no NUMA the call
/// fails and nothing is lost.
void prefer_node(std::byte* data, Bytes bytes, int node) {
    if (node >= 0 && node < 64) {
        unsigned long const nodes = 1UL << static_cast<unsigned>(node);
        syscall(SYS_mbind, data, bytes, MPOL_PREFERRED, &nodes, 64UL, 0U);
    }
}

int node_of_device_in_use() {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return numa_node_of_device(device);
}

Allocation allocate_pinned(Bytes bytes) {
    Allocation host = allocate_host(bytes);
    prefer_node(host.data(), bytes, node_of_device_in_use());
    constexpr unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;  // kernels fill and check it
    cudaError_t const code = cudaHostRegister(host.data(), bytes, flags);
    if (code != cudaSuccess) {
        out_of_memory(MemoryKind::pinned, bytes, code);
    }
    return {host.give_up(), bytes, release_pinned};
}

}  // namespace

Allocation allocate_cuda(MemoryKind kind, Bytes bytes) {
    if (bytes == 0) {
        return {};
    }
    if (kind == MemoryKind::pinned) {
        return allocate_pinned(bytes);
    }
    void* data = nullptr;
    cudaError_t const code =
        kind == MemoryKind::managed ? cudaMallocManaged(&data, bytes, cudaMemAttachGlobal) : cudaMalloc(&data, bytes);
    if (code != cudaSuccess) {
        out_of_memory(kind, bytes, code);
    }
    return {static_cast<std::byte*>(data), bytes, release_device};
}

Allocation allocate_on_device(Bytes bytes) {
    return allocate_cuda(MemoryKind::cuda, bytes);
}

}  // namespace dlmb

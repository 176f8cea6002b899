// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pinned, managed and device memory through the CUDA runtime. Payload is written and compared where it lies; one
// verdict of eight bytes per check comes back.
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/kernels.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

#include <limits>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlmb {

void check(cudaError_t code, std::string_view call, Where where) {
    if (code != cudaSuccess) {
        throw Error(fmt::format("{}: {} ({})", call, cudaGetErrorString(code), static_cast<int>(code)), where);
    }
}

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

class CudaSpace final : public MemorySpace {
public:
    explicit CudaSpace(MemoryKind kind) : kind_(kind), first_wrong_(allocate_on_device(sizeof(unsigned long long))) {}

    [[nodiscard]] MemoryKind kind() const override { return kind_; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override { return allocate_on_device(bytes, kind_); }

    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) override {
        queue_fill(data, bytes, key, start, stream());
        queue_.drain();
    }

    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start) override {
        constexpr auto nothing = std::numeric_limits<unsigned long long>::max();
        auto* const first_wrong = reinterpret_cast<unsigned long long*>(first_wrong_.data());
        dlmb::check(cudaMemsetAsync(first_wrong, 0xFF, sizeof *first_wrong, stream()), "cudaMemsetAsync");
        queue_check(data, bytes, key, start, first_wrong, stream());
        unsigned long long offset = nothing;
        copy_out(reinterpret_cast<std::byte*>(&offset), first_wrong_.data(), sizeof offset);
        if (offset == nothing) {
            return std::nullopt;
        }
        std::byte found{};
        copy_out(&found, data + offset, 1);
        std::byte const expected = payload_byte(key, start * sizeof(std::uint64_t) + offset);
        return Mismatch{offset, std::to_integer<std::uint8_t>(expected), std::to_integer<std::uint8_t>(found)};
    }

    void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) override {
        queue_.copy(to, from_host, bytes);
        queue_.drain();
    }
    void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) override {
        queue_.copy(to_host, from, bytes);
        queue_.drain();
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return stream_of(queue_.native()); }

    MemoryKind kind_;
    DeviceQueue queue_;
    Allocation first_wrong_;
};

}  // namespace

Allocation allocate_on_device(Bytes bytes, MemoryKind kind) {
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

std::unique_ptr<MemorySpace> make_memory_space(MemoryKind kind, std::string& why_not) {
    if (kind == MemoryKind::host) {
        return std::make_unique<HostSpace>();
    }
    int devices = 0;
    cudaError_t const code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        why_not = fmt::format("{} memory: no CUDA device: {}", name_of(kind),
                              code == cudaSuccess ? "the driver reports none" : cudaGetErrorString(code));
        return nullptr;
    }
    return std::make_unique<CudaSpace>(kind);
}

}  // namespace dlmb

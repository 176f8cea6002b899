// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pinned, managed and device memory through the CUDA runtime. Fill and check go through a pinned staging buffer on the
// host, outside any timed region; kernels that do it on the device are a later step.
#include "common/base/error.hpp"
#include "common/memory/cuda_memory.hpp"
#include "common/memory/host_space.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace dlmb {
namespace {

constexpr Bytes staging_bytes = Bytes{8} << 20;

void check(cudaError_t code, std::string_view call, Where where = Where::here()) {
    if (code != cudaSuccess) {
        throw Error(fmt::format("{}: {} ({})", call, cudaGetErrorString(code), static_cast<int>(code)), where);
    }
}
template <class T>
void check(T, std::string_view, Where = Where::here()) = delete;

void release_pinned(std::byte* data, Bytes /*bytes*/) {
    cudaFreeHost(data);
}
void release_device(std::byte* data, Bytes /*bytes*/) {
    cudaFree(data);
}

Allocation allocate_kind(MemoryKind kind, Bytes bytes) {
    if (bytes == 0) {
        return {};
    }
    void* data = nullptr;
    cudaError_t code = cudaSuccess;
    switch (kind) {
    case MemoryKind::pinned:
        code = cudaMallocHost(&data, bytes);
        break;
    case MemoryKind::managed:
        code = cudaMallocManaged(&data, bytes);
        break;
    case MemoryKind::cuda:
    case MemoryKind::host:
        code = cudaMalloc(&data, bytes);
        break;
    }
    if (code != cudaSuccess) {
        throw Error(
            fmt::format("{} memory: cannot allocate {} bytes: {}", name_of(kind), bytes, cudaGetErrorString(code)));
    }
    return {static_cast<std::byte*>(data), bytes, kind == MemoryKind::pinned ? release_pinned : release_device};
}

class CudaSpace final : public MemorySpace {
public:
    explicit CudaSpace(MemoryKind kind) : kind_(kind), staging_(allocate_kind(MemoryKind::pinned, staging_bytes)) {}

    [[nodiscard]] MemoryKind kind() const override { return kind_; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override { return allocate_kind(kind_, bytes); }

    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) override {
        for (Bytes done = 0; done < bytes; done += staging_bytes) {
            Bytes const piece = std::min(staging_bytes, bytes - done);
            host_.fill(staging_.data(), piece, key, start + done);
            copy_in(data + done, staging_.data(), piece);
        }
    }

    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start) override {
        for (Bytes done = 0; done < bytes; done += staging_bytes) {
            Bytes const piece = std::min(staging_bytes, bytes - done);
            copy_out(staging_.data(), data + done, piece);
            if (std::optional<Mismatch> mismatch = host_.check(staging_.data(), piece, key, start + done)) {
                mismatch->offset += done;
                return mismatch;
            }
        }
        return std::nullopt;
    }

    void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) override {
        dlmb::check(cudaMemcpy(to, from_host, bytes, cudaMemcpyDefault), "cudaMemcpy");
    }
    void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) override {
        dlmb::check(cudaMemcpy(to_host, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
    }

private:
    MemoryKind kind_;
    Allocation staging_;
    HostSpace host_;
};

}  // namespace

std::unique_ptr<MemorySpace> make_cuda_memory_space(MemoryKind kind, int local_rank, std::string& why_not) {
    int devices = 0;
    cudaError_t const code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        why_not = fmt::format("{} memory: no CUDA device: {}", name_of(kind),
                              code == cudaSuccess ? "the driver reports none" : cudaGetErrorString(code));
        return nullptr;
    }
    dlmb::check(cudaSetDevice(local_rank % devices), "cudaSetDevice");
    return std::make_unique<CudaSpace>(kind);
}

}  // namespace dlmb

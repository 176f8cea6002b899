// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pinned, managed and device memory through the CUDA runtime. Payload is written and compared where it lies; one
// verdict of eight bytes per check comes back.
#include "common/memory/cuda/cuda_allocation.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/payload_kernels.hpp"
#include "common/memory/cuda_memory.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/devices.hpp"

#include <fmt/core.h>

#include <limits>

namespace dlmb {
namespace {

class CudaSpace final : public MemorySpace {
public:
    explicit CudaSpace(MemoryKind kind)
        : kind_(kind), first_wrong_(allocate_cuda(MemoryKind::cuda, sizeof(unsigned long long))) {}

    [[nodiscard]] MemoryKind kind() const override { return kind_; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override { return allocate_cuda(kind_, bytes); }

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
        auto const expected = static_cast<std::uint8_t>(payload_word(key, start + offset / 8) >> (8 * (offset % 8)));
        return Mismatch{offset, expected, std::to_integer<std::uint8_t>(found)};
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

std::unique_ptr<MemorySpace> make_cuda_memory_space(MemoryKind kind, std::string& why_not) {
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

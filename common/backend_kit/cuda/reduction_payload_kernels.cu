// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What reductions start from, and whether their results are right: a kernel each for all types and reductions, as in
// reduce_kernel.cu. Elements are computed and encoded by the functions that the host uses, not by conversions of the
// hardware, which are what is checked.
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/memory_space.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace dlmb {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr Bytes most_blocks = 4096;

using Position = unsigned long long;  // what atomicMin takes
constexpr Position nowhere = std::numeric_limits<Position>::max();

/// In any bit; zeros have two signs.
template <class Storage>
__device__ bool differ(unsigned char const* found, Storage expected) {
    auto const bytes = std::bit_cast<std::array<unsigned char, sizeof expected>>(expected);
    unsigned difference = 0;
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        difference |= static_cast<unsigned>(found[k] ^ bytes[k]);
    }
    return difference != 0;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_reduction_input(unsigned char* data, Bytes elements, ReductionPayload payload, PayloadKey key, int member,
                         std::uint64_t first) {
    with_codec(payload.element(), [&](auto codec) {
        using Codec = decltype(codec);
        for (Bytes i = Bytes{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += Bytes{gridDim.x} * blockDim.x) {
            auto const stored =
                Codec::store(static_cast<typename Codec::Value>(payload.input_at(key, member, first + i)));
            memcpy(data + i * sizeof stored, &stored, sizeof stored);
        }
    });
}

void device_reduction_input(DeviceQueue const& queue, std::byte* data, Bytes elements, ReductionPayload const& payload,
                            PayloadKey key, int member, std::uint64_t first) {
    if (elements == 0) {
        return;
    }
    Bytes const blocks = (elements + threads_per_block - 1) / threads_per_block;
    dlmb_reduction_input<<<static_cast<unsigned>(std::min(most_blocks, blocks)), threads_per_block, 0,
                           stream_of(queue.native())>>>(reinterpret_cast<unsigned char*>(data), elements, payload, key,
                                                        member, first);
    check(cudaGetLastError(), "dlmb_reduction_input");
}

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_reduction_check(unsigned char const* data, Bytes elements, ReductionPayload payload, PayloadKey key,
                         std::uint64_t first, Position* first_wrong) {
    with_codec(payload.element(), [&](auto codec) {
        using Codec = decltype(codec);
        for (Bytes i = Bytes{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += Bytes{gridDim.x} * blockDim.x) {
            auto const expected = Codec::store(static_cast<typename Codec::Value>(payload.result_at(key, first + i)));
            if (differ(data + i * sizeof expected, expected)) {
                atomicMin(first_wrong, Position{i});
            }
        }
    });
}

DeviceReductionCheck::DeviceReductionCheck() : first_wrong_(allocate_on_device(sizeof(Position))) {}

std::optional<Bytes> DeviceReductionCheck::first_wrong(std::byte const* data, Bytes elements,
                                                       ReductionPayload const& payload, PayloadKey key,
                                                       std::uint64_t first) {
    if (elements == 0) {
        return std::nullopt;
    }
    cudaStream_t const stream = stream_of(queue_.native());
    auto* const position = reinterpret_cast<Position*>(first_wrong_.data());
    check(cudaMemsetAsync(position, 0xFF, sizeof *position, stream), "cudaMemsetAsync");  // nowhere
    Bytes const blocks = (elements + threads_per_block - 1) / threads_per_block;
    dlmb_reduction_check<<<static_cast<unsigned>(std::min(most_blocks, blocks)), threads_per_block, 0, stream>>>(
        reinterpret_cast<unsigned char const*>(data), elements, payload, key, first, position);
    check(cudaGetLastError(), "dlmb_reduction_check");
    Position found = nowhere;
    queue_.copy(reinterpret_cast<std::byte*>(&found), first_wrong_.data(), sizeof found);
    queue_.drain();
    return found == nowhere ? std::nullopt : std::optional<Bytes>(found);
}

}  // namespace dlmb

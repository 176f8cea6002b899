// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One kernel for all types and reductions. Elements are computed and encoded by the functions that the host uses.
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <algorithm>

namespace dlmb {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr Bytes most_blocks = 4096;

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

}  // namespace dlmb

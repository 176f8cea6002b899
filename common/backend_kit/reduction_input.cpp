// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/reduction_input.hpp"

#include "common/backend_kit/device_reduction_input.hpp"

#include <algorithm>
#include <vector>

namespace dlmb {
namespace {

/// Generated and copied at a time. A multiple of every element size.
constexpr Bytes input_chunk_bytes = Bytes{64} << 10;

}  // namespace

void ReductionInput::fill(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key, int member,
                          std::uint64_t first) {
    if (!on_device(memory_.kind())) {
        fill_from_host(data, elements, payload, key, member, first);
        return;
    }
    if (queue_ == nullptr) {
        queue_ = std::make_unique<DeviceQueue>();
    }
    device_reduction_input(*queue_, data, elements, payload, key, member, first);
    queue_->drain();
}

void ReductionInput::fill_from_host(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key,
                                    int member, std::uint64_t first) {
    Bytes const size = size_of(payload.element());
    Bytes const all = elements * size;
    std::vector<std::byte> chunk(std::min(input_chunk_bytes, all));
    for (Bytes done = 0; done < all; done += chunk.size()) {
        auto const part = std::span(chunk).first(std::min<Bytes>(chunk.size(), all - done));
        payload.input(key, member, first + done / size, part);
        memory_.copy_in(data + done, part.data(), part.size());
    }
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/reduction_buffers.hpp"

#include "common/backend_kit/device_reduction.hpp"

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

namespace {

/// Generated and compared at a time.
constexpr Bytes checked_chunk_bytes = Bytes{64} << 10;

}  // namespace

std::optional<Bytes> ReductionCheck::first_wrong(std::byte const* data, Bytes elements, ReductionPayload const& payload,
                                                 PayloadKey key, std::uint64_t first) {
    if (!on_device(memory_.kind())) {
        return first_wrong_on_host(data, elements, payload, key, first);
    }
    if (device_ == nullptr) {
        device_ = std::make_unique<DeviceReductionCheck>();
    }
    return device_->first_wrong(data, elements, payload, key, first);
}

std::optional<Bytes> ReductionCheck::first_wrong_on_host(std::byte const* data, Bytes elements,
                                                         ReductionPayload const& payload, PayloadKey key,
                                                         std::uint64_t first) {
    Bytes const size = size_of(payload.element());
    std::vector<std::byte> expected(std::min(checked_chunk_bytes, elements * size));
    std::vector<std::byte> found(expected.size());
    for (Bytes done = 0; done < elements; done += expected.size() / size) {
        Bytes const bytes = std::min<Bytes>(expected.size(), (elements - done) * size);
        auto const part = std::span(expected).first(bytes);
        payload.result(key, first + done, part);
        memory_.copy_out(found.data(), data + done * size, bytes);
        auto const difference = std::mismatch(part.begin(), part.end(), found.begin()).first;
        if (difference != part.end()) {
            return done + static_cast<Bytes>(difference - part.begin()) / size;
        }
    }
    return std::nullopt;
}

}  // namespace dlmb

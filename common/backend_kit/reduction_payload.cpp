// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/reduction_payload.hpp"

#include "common/backend_kit/element_codec.hpp"

#include <cstring>

namespace dlmb {
namespace {

/// Stores value_of(number of the element) for each element as `type`.
template <class ValueOf>
void generate(Element type, std::uint64_t first, std::span<std::byte> out, ValueOf const& value_of) {
    with_codec(type, [&](auto codec) {
        using Codec = decltype(codec);
        std::size_t const size = sizeof(typename Codec::Storage);
        for (std::size_t i = 0; i < out.size() / size; ++i) {
            auto const stored = Codec::store(static_cast<typename Codec::Value>(value_of(first + i)));
            std::memcpy(out.data() + i * size, &stored, size);
        }
    });
}

}  // namespace

void ReductionPayload::input(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const {
    generate(element_, first, out, [&](std::uint64_t element) { return input_at(key, member, element); });
}

void ReductionPayload::result(PayloadKey key, std::uint64_t first, std::span<std::byte> out) const {
    generate(element_, first, out, [&](std::uint64_t element) { return result_at(key, element); });
}

void ReductionPayload::result_without(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const {
    generate(element_, first, out, [&](std::uint64_t element) {
        std::uint64_t const word = payload_word(key, element);
        return folded(word, place(word, member));
    });
}

}  // namespace dlmb

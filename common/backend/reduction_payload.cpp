// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/reduction_payload.hpp"

#include "common/backend/element_codec.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb {
namespace {

/// Calls value_of(word of the element) for each element and stores it as the type of `element`.
template <class ValueOf>
void generate(PayloadKey key, Element element, std::uint64_t first, std::span<std::byte> out, ValueOf const& value_of) {
    with_codec(element, [&](auto codec) {
        using Codec = decltype(codec);
        std::size_t const size = sizeof(typename Codec::Storage);
        for (std::size_t i = 0; i < out.size() / size; ++i) {
            auto const stored =
                Codec::store(static_cast<typename Codec::Value>(value_of(payload_word(key, first + i))));
            std::memcpy(out.data() + i * size, &stored, size);
        }
    });
}

}  // namespace

// Four contributions must stay exact in the narrowest type: fp8 holds all integers up to 16, a byte those up to 255.
std::uint32_t ReductionPayload::largest() const {
    bool const narrow = element_ == Element::fp8;
    if (reduction_ == Reduction::prod) {
        return narrow || element_ == Element::byte ? 2 : 4;
    }
    return narrow ? 4 : 32;
}

std::uint32_t ReductionPayload::neutral() const {
    switch (reduction_) {
    case Reduction::prod:
        return 1;
    case Reduction::min:
        return largest();
    case Reduction::sum:
    case Reduction::max:
        break;
    }
    return 0;
}

/// The member's distance from the first contributor of this element; below `contributors` it contributes.
int ReductionPayload::place(std::uint64_t word, int member) const {
    auto const count = static_cast<std::uint32_t>(members_);
    auto const first = static_cast<std::uint32_t>((word & 0xFFFFFFFFU) % count);
    return static_cast<int>((static_cast<std::uint32_t>(member) + count - first) % count);
}

std::uint32_t ReductionPayload::digit(std::uint64_t word, int place) const {
    return 1 + (static_cast<std::uint32_t>(word >> (32 + 8 * place)) & (largest() - 1));
}

std::uint32_t ReductionPayload::folded(std::uint64_t word, int without_place) const {
    std::uint32_t result = neutral();
    for (int place = 0; place < std::min(contributors, members_); ++place) {
        std::uint32_t const value = place == without_place ? neutral() : digit(word, place);
        switch (reduction_) {
        case Reduction::sum:
            result += value;
            break;
        case Reduction::prod:
            result *= value;
            break;
        case Reduction::min:
            result = std::min(result, value);
            break;
        case Reduction::max:
            result = std::max(result, value);
            break;
        }
    }
    return result;
}

void ReductionPayload::input(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const {
    generate(key, element_, first, out, [this, member](std::uint64_t word) {
        int const my_place = place(word, member);
        return my_place < contributors ? digit(word, my_place) : neutral();
    });
}

void ReductionPayload::result(PayloadKey key, std::uint64_t first, std::span<std::byte> out) const {
    generate(key, element_, first, out, [this](std::uint64_t word) { return folded(word, -1); });
}

void ReductionPayload::result_without(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const {
    generate(key, element_, first, out,
             [this, member](std::uint64_t word) { return folded(word, place(word, member)); });
}

}  // namespace dlmb

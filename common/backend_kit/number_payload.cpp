// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/number_payload.hpp"

#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/element_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dlmb {
namespace {

/// Takes of each word of the stream a sign, three bits of exponent and as much mantissa as the format has. They are put
/// together as integers: rounding floats to 16 bits takes many times as long.
template <class Storage, unsigned mantissa_bits, std::uint32_t bias>
void write_numbers(std::span<std::byte> to, PayloadKey key, std::uint64_t first) {
    constexpr std::uint32_t lowest_exponent = bias - 6;
    constexpr unsigned sign_place = 8 * sizeof(Storage) - 1;
    for (std::uint64_t i = 0; i < to.size() / sizeof(Storage); ++i) {
        auto const bits = static_cast<std::uint32_t>(payload_word(key, first + i) >> 8U);
        std::uint32_t const exponent = lowest_exponent + ((bits >> 23U) & 7U);
        std::uint32_t const mantissa = (bits & 0x7FFFFFU) >> (23U - mantissa_bits);
        auto const number =
            static_cast<Storage>(((bits >> 31U) << sign_place) | (exponent << mantissa_bits) | mantissa);
        std::memcpy(to.data() + i * sizeof number, &number, sizeof number);
    }
}

}  // namespace

std::vector<std::byte> NumberPayload::numbers(std::uint64_t first, std::uint64_t count) const {
    std::vector<std::byte> bytes(count * size_of(element));
    if (element == Element::fp32) {
        write_numbers<std::uint32_t, 23, 127>(bytes, key, first);
    } else if (element == Element::bf16) {
        write_numbers<std::uint16_t, 7, 127>(bytes, key, first);
    } else {
        write_numbers<std::uint16_t, 10, 15>(bytes, key, first);
    }
    return bytes;
}

std::optional<std::uint64_t> first_beyond_bound(std::span<std::byte const> numbers, std::span<std::byte const> unpacked,
                                                std::span<std::byte const> scales, Element element,
                                                BlockFormat const& format) {
    return with_codec(element, [&](auto codec) -> std::optional<std::uint64_t> {
        using Codec = decltype(codec);
        using Storage = typename Codec::Storage;
        auto const at = [](std::span<std::byte const> bytes, std::uint64_t index) {
            Storage stored;
            std::memcpy(&stored, bytes.data() + index * sizeof stored, sizeof stored);
            return static_cast<double>(Codec::load(stored));
        };
        // Never above error_bound(), which takes logarithms: most numbers are nearer than this.
        double const smallest = half_step(format.code, 0);
        double const relative = least_half_step(format.code);
        std::uint64_t const count = numbers.size() / sizeof(Storage);
        for (std::uint64_t block = 0; block < format.blocks(count); ++block) {
            double const scale = scale_at(scales.data() + block * format.scale_bytes(), format.scale);
            for (std::uint64_t i = block * format.block; i < std::min(count, (block + 1) * format.block); ++i) {
                double const number = at(numbers, i);
                double const error = std::abs(at(unpacked, i) - number);
                if (!(error <= std::max(smallest * scale, relative * std::abs(number))) &&
                    !(error <= error_bound(number, scale, element, format.code))) {
                    return i;
                }
            }
        }
        return std::nullopt;
    });
}

}  // namespace dlmb

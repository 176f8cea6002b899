// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/number_payload.hpp"

#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/element_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace dlmb {
namespace {

/// Sign, three bits of exponent and ten of mantissa, which fp16 has and bf16 cuts; fp32 gets the rest as well.
float number_of(std::uint64_t word, Element element) {
    constexpr std::uint32_t lowest_exponent = 127 - 6;
    auto const bits = static_cast<std::uint32_t>(word >> 8U);
    std::uint32_t const mantissa = (bits & 0x7FFFFFU) & (element == Element::fp32   ? 0x7FFFFFU
                                                         : element == Element::bf16 ? 0x7F0000U
                                                                                    : 0x7FE000U);
    std::uint32_t const exponent = lowest_exponent + ((bits >> 23U) & 7U);
    return std::bit_cast<float>((bits & 0x80000000U) | (exponent << 23U) | mantissa);
}

}  // namespace

std::vector<std::byte> NumberPayload::numbers(std::uint64_t first, std::uint64_t count) const {
    std::vector<std::byte> bytes(count * size_of(element));
    with_codec(element, [&](auto codec) {
        using Codec = decltype(codec);
        for (std::uint64_t i = 0; i < count; ++i) {
            auto const stored =
                Codec::store(static_cast<typename Codec::Value>(number_of(payload_word(key, first + i), element)));
            std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
        }
    });
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
        double scale = 0;
        for (std::uint64_t i = 0; i < numbers.size() / sizeof(Storage); ++i) {
            if (i % format.block == 0) {
                scale = scale_at(scales.data() + i / format.block * format.scale_bytes(), format.scale);
            }
            double const number = at(numbers, i);
            double const error = std::abs(at(unpacked, i) - number);
            if (error <= std::max(smallest * scale, relative * std::abs(number))) {
                continue;
            }
            if (!(error <= error_bound(number, scale, element, format.code))) {
                return i;
            }
        }
        return std::nullopt;
    });
}

}  // namespace dlmb

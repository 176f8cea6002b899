// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// fp16 (IEEE 754 binary16), bf16 and fp8 (OCP E4M3: bias 7, no infinity, largest 448) to and from float, rounded to
// nearest, ties to even. fp8 saturates, as NCCL's conversion does; the others overflow to infinity.
#pragma once

#include <bit>
#include <cstdint>

namespace dlmb::small_float {

constexpr std::uint32_t shift_round(std::uint32_t value, unsigned shift) {
    std::uint32_t const below_half = (std::uint32_t{1} << (shift - 1)) - 1;
    return (value + below_half + ((value >> shift) & 1U)) >> shift;
}

/// Selection without a branch, so that loops over conversions become vector code. Signed: x86-64 compares vectors so.
constexpr std::uint32_t choose(bool first, std::uint32_t a, std::uint32_t b) {
    std::uint32_t const mask = std::uint32_t{0} - static_cast<std::uint32_t>(first);
    return (a & mask) | (b & ~mask);
}
constexpr bool above(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b);
}

/// A format of one sign bit, exponent bits and `mantissa` bits; `largest` is its largest finite code.
template <unsigned mantissa, unsigned bias, unsigned width, std::uint32_t largest, std::uint32_t overflow,
          std::uint32_t nan>
struct Format {
    static constexpr std::uint32_t encode(float value) {
        auto const bits = std::bit_cast<std::uint32_t>(value);
        std::uint32_t const magnitude = bits & 0x7FFFFFFFU;
        std::uint32_t const sign = (bits >> 31) << (width - 1);
        std::uint32_t const normal = shift_round(magnitude - smallest_normal + (1U << 23), 23 - mantissa);
        // The last bit of `unit` is worth one step of the subnormals: the addition rounds to it.
        constexpr std::uint32_t unit = (151U - bias - mantissa) << 23;
        std::uint32_t const subnormal =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(unit)) - unit;
        std::uint32_t const code = choose(above(smallest_normal, magnitude), subnormal, normal);
        std::uint32_t const finite = choose(above(code, largest), overflow, code);
        return sign | choose(above(magnitude, infinity), nan, finite);
    }

    static constexpr float decode(std::uint32_t code) {
        constexpr std::uint32_t sign_bit = std::uint32_t{1} << (width - 1);
        std::uint32_t const magnitude = code & (sign_bit - 1);
        std::uint32_t const mantissa_bits = magnitude << (23 - mantissa);
        std::uint32_t const normal = mantissa_bits + smallest_normal - (1U << 23);
        // The same bits behind the smallest normal number's exponent are the subnormal and that number.
        auto const subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(mantissa_bits + smallest_normal) -
                                                            std::bit_cast<float>(smallest_normal));
        std::uint32_t const finite = choose(above(std::uint32_t{1} << mantissa, magnitude), subnormal, normal);
        std::uint32_t const other = choose(magnitude == overflow, infinity, quiet_nan);
        std::uint32_t const sign = (code & sign_bit) << (32 - width);
        return std::bit_cast<float>(sign | choose(above(magnitude, largest), other, finite));
    }

private:
    static constexpr std::uint32_t infinity = 0x7F800000U;
    static constexpr std::uint32_t quiet_nan = 0x7FC00000U;
    static constexpr std::uint32_t smallest_normal = (128U - bias) << 23;  // of this format, as a float
};

using Fp16 = Format<10, 15, 16, 0x7BFF, 0x7C00, 0x7E00>;
using Fp8 = Format<3, 7, 8, 0x7E, 0x7E, 0x7F>;

/// The upper half of a float: its subnormals are the float's own, so the general form does not fit.
struct Bf16 {
    static constexpr std::uint32_t encode(float value) {
        auto const bits = std::bit_cast<std::uint32_t>(value);
        return choose(above(bits & 0x7FFFFFFFU, 0x7F800000U), (bits >> 16) | 0x40U, shift_round(bits, 16));
    }
    static constexpr float decode(std::uint32_t code) { return std::bit_cast<float>(code << 16); }
};

}  // namespace dlmb::small_float

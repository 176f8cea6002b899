// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// fp16 (IEEE 754 binary16), bf16 and fp8 (OCP E4M3: bias 7, no infinity, largest 448) to and from float, rounded to
// nearest, ties to even. fp8 saturates, as NCCL's conversion does; the others overflow to infinity.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace dlmb::small_float {

constexpr std::uint32_t shift_round(std::uint32_t value, unsigned shift) {
    std::uint32_t const below_half = (std::uint32_t{1} << (shift - 1)) - 1;
    return (value + below_half + ((value >> shift) & 1U)) >> shift;
}

/// A format of one sign bit, exponent bits and `mantissa` bits; `largest` is its largest finite code.
template <unsigned mantissa, unsigned bias, unsigned width, std::uint32_t largest, std::uint32_t overflow,
          std::uint32_t nan>
struct Format {
    static constexpr std::uint32_t encode(float value) {
        auto const bits = std::bit_cast<std::uint32_t>(value);
        std::uint32_t const magnitude = bits & 0x7FFFFFFFU;
        std::uint32_t const sign = (bits >> 31) << (width - 1);
        if (magnitude > 0x7F800000U) {
            return sign | nan;
        }
        std::uint32_t const exponent = magnitude >> 23;
        std::uint32_t code = 0;
        if (exponent > 127 - bias) {
            code = shift_round(magnitude - ((127U - bias) << 23), 23 - mantissa);
        } else if (unsigned const shift = 23 - mantissa + (128 - bias - exponent); shift <= 24) {
            code = shift_round((magnitude & 0x7FFFFFU) | 0x800000U, shift);  // subnormal in the small format
        }
        return sign | (code > largest ? overflow : code);
    }

    static constexpr float decode(std::uint32_t code) {
        constexpr std::uint32_t sign_bit = std::uint32_t{1} << (width - 1);
        std::uint32_t const magnitude = code & (sign_bit - 1);
        float result = 0;
        if (magnitude > largest) {
            result = magnitude == overflow ? std::numeric_limits<float>::infinity()
                                           : std::numeric_limits<float>::quiet_NaN();
        } else if ((magnitude >> mantissa) == 0) {
            result = static_cast<float>(magnitude) * std::bit_cast<float>((128U - bias - mantissa) << 23);
        } else {
            result = std::bit_cast<float>((magnitude << (23 - mantissa)) + ((127U - bias) << 23));
        }
        return (code & sign_bit) != 0 ? -result : result;
    }
};

using Fp16 = Format<10, 15, 16, 0x7BFF, 0x7C00, 0x7E00>;
using Fp8 = Format<3, 7, 8, 0x7E, 0x7E, 0x7F>;

/// The upper half of a float: its subnormals are the float's own, so the general form does not fit.
struct Bf16 {
    static constexpr std::uint32_t encode(float value) {
        auto const bits = std::bit_cast<std::uint32_t>(value);
        bool const is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        return is_nan ? (bits >> 16) | 0x40U : shift_round(bits, 16);
    }
    static constexpr float decode(std::uint32_t code) { return std::bit_cast<float>(code << 16); }
};

}  // namespace dlmb::small_float

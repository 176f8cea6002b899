// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Codes, numbers and scales of block formats on the device: fp32 arithmetic, rounded to nearest, without contraction,
// bit for bit as the host's loops.
#pragma once

#include "common/backend_kit/cuda/store_code.hpp"
#include "common/formats/plan/block_format.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace dlmb::block_codes {

template <unsigned bits>
struct IntegerCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>((1U << (bits - 1U)) - 1U);
    static __device__ unsigned encode(float scaled) {
        return static_cast<unsigned>(__float2int_rn(scaled)) & ((1U << bits) - 1U);
    }
    static __device__ float decode(unsigned code) {
        return static_cast<float>(static_cast<int>(code << (32U - bits)) >> (32U - bits));
    }
};

/// As FloatCode of the host's loops.
template <unsigned mantissa, unsigned bias, unsigned bits, unsigned largest_number>
struct FloatCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>(largest_number);
    static constexpr unsigned sign_bit = 1U << (bits - 1U);
    static constexpr unsigned smallest_normal = (128U - bias) << 23U;

    static __device__ unsigned encode(float scaled) {
        unsigned const all = __float_as_uint(scaled);
        unsigned const exponent = max(all & 0x7F800000U, smallest_normal);
        unsigned const unit = exponent + ((23U - mantissa) << 23U);
        unsigned const steps =
            __float_as_uint(__fadd_rn(__uint_as_float(all & 0x7FFFFFFFU), __uint_as_float(unit))) - unit;
        unsigned const code = steps + ((exponent - smallest_normal) >> (23U - mantissa));
        return code | ((all >> (32U - bits)) & sign_bit);
    }
    static __device__ float decode(unsigned code) {
        unsigned const magnitude = code & (sign_bit - 1U);
        unsigned const below = magnitude << (23U - mantissa);
        float const subnormal = __fsub_rn(__uint_as_float(below + smallest_normal), __uint_as_float(smallest_normal));
        float const normal = __uint_as_float(below + smallest_normal - (1U << 23U));
        float const value = magnitude < (1U << mantissa) ? subnormal : normal;
        return (code & sign_bit) != 0 ? -value : value;
    }
};

struct Bf16 {
    using Storage = unsigned short;
    static __device__ float decode(Storage code) { return __bfloat162float(__ushort_as_bfloat16(code)); }
    static __device__ Storage encode(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
    static __device__ void put(unsigned char* to, float value) { store_code(to, encode(value)); }
};
struct Fp16 {
    using Storage = unsigned short;
    static __device__ float decode(Storage code) { return __half2float(__ushort_as_half(code)); }
    static __device__ Storage encode(float value) {
        constexpr float largest = 65504;
        return __half_as_ushort(__float2half_rn(fminf(fmaxf(value, -largest), largest)));
    }
    static __device__ void put(unsigned char* to, float value) { store_code(to, encode(value)); }
};
struct Fp32 {
    using Storage = float;
    static __device__ float decode(Storage stored) { return stored; }
    static __device__ Storage encode(float value) { return value; }
    static __device__ void put(unsigned char* to, float value) { memcpy(to, &value, sizeof value); }
};

/// Reads a number at any address.
template <class Number>
__device__ float number_at(unsigned char const* from) {
    typename Number::Storage stored;
    memcpy(&stored, from, sizeof stored);
    return Number::decode(stored);
}

/// Factors of the codes of a block, and of its numbers. Both are 0 where all numbers are.
struct Scale {
    unsigned bits;  // of a float
    float inverse;
};
template <class Code>
__device__ Scale scale_for(float largest, ScaleType type) {
    unsigned bits = __float_as_uint(__fdiv_rn(largest, Code::largest));
    bool const zero = bits < (1U << 23U);
    bits = zero ? 0 : type == ScaleType::e8m0 ? (bits + 0x7FFFFFU) & 0x7F800000U : bits;
    return {bits, zero ? 0 : __fdiv_rn(1.0F, __uint_as_float(bits))};
}
__device__ inline void put_scale(unsigned char* to, unsigned bits, ScaleType type) {
    if (type == ScaleType::e8m0) {
        *to = static_cast<unsigned char>(bits >> 23U);
    } else {
        memcpy(to, &bits, sizeof bits);
    }
}
__device__ inline float scale_at(unsigned char const* from, ScaleType type) {
    if (type == ScaleType::e8m0) {
        return __uint_as_float(static_cast<unsigned>(*from) << 23U);
    }
    float scale;
    memcpy(&scale, from, sizeof scale);
    return scale;
}

}  // namespace dlmb::block_codes

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loops of block_codec. A file that includes this has included vectors.hpp and defined, for its processors,
// widened(), octets_of(), halves_of(), greater_of() and largest_of().
#pragma once

#include "common/backend_kit/block_codec/kernels.hpp"
#include "common/backend_kit/block_codec/vectors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace dlmb::codec_loop {
namespace {

/// What a block is loaded and stored in: the codes of two vectors, which halves of bytes fill one of.
inline constexpr std::uint32_t group = BlockFormat::smallest_block;
static_assert(group == 2 * lanes);
using Group = std::array<Floats, 2>;

/// Two's complement: adding 1.5 * 2^23 leaves the rounded number in the lowest bits of the sum.
template <unsigned bits>
struct IntegerCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>((1U << (bits - 1U)) - 1U);

    DLMB_INLINE static Words encode(Floats scaled) { return as<Words>(scaled + 12582912.0F) & ((1U << bits) - 1U); }
    DLMB_INLINE static Floats decode(Words code) {
        return __builtin_convertvector(as<Integers>(code << (32U - bits)) >> static_cast<int>(32U - bits), Floats);
    }
};

/// A sign, exponent bits and `mantissa` bits; numbers above `largest_number` are not coded.
template <unsigned mantissa, unsigned bias, unsigned bits, std::uint32_t largest_number>
struct FloatCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>(largest_number);

    DLMB_INLINE static Words encode(Floats scaled) {
        Words const all = as<Words>(scaled);
        Words const magnitude = all & 0x7FFFFFFFU;
        // Below the smallest normal number the distance of numbers stays what it is there.
        Words const exponent = greater_of(all & 0x7F800000U, smallest_normal - Words{});
        // The last bit of `unit` is worth one step of the code at this exponent: the addition rounds to it.
        Words const unit = exponent + ((23U - mantissa) << 23U);
        Words const steps = as<Words>(as<Floats>(magnitude) + as<Floats>(unit)) - unit;
        Words const code = steps + ((exponent - smallest_normal) >> (23U - mantissa));
        return code | ((all >> (32U - bits)) & sign_bit);
    }
    DLMB_INLINE static Floats decode(Words code) {
        Words const magnitude = code & (sign_bit - 1U);
        Words const below = magnitude << (23U - mantissa);
        Words const normal = below + (smallest_normal - (1U << 23U));
        // The same bits behind the smallest normal number's exponent are the subnormal and that number.
        Words const subnormal = as<Words>(as<Floats>(below + smallest_normal) - std::bit_cast<float>(smallest_normal));
        Words const finite = as<Integers>(magnitude) < static_cast<int>(1U << mantissa) ? subnormal : normal;
        return as<Floats>(finite | ((code & sign_bit) << (32U - bits)));
    }

private:
    static constexpr std::uint32_t sign_bit = 1U << (bits - 1U);
    static constexpr std::uint32_t smallest_normal = (128U - bias) << 23U;  // of this code, as a float
};

using Int4 = IntegerCode<4>;
using Int8 = IntegerCode<8>;
using Fp4 = FloatCode<1, 1, 4, 6>;
using Fp8 = FloatCode<3, 7, 8, 448>;
using Fp8E5m2 = FloatCode<2, 15, 8, 57344>;

template <class Vector>
DLMB_INLINE Vector loaded(std::byte const* from) {
    Vector vector;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied in the next line
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

/// The bits of numbers without their signs are in the order of their magnitudes.
struct Fp32 {
    using Storage = std::uint32_t;
    using Vector = Words;
    using Magnitudes = Words;
    static constexpr std::uint32_t magnitude_bits = 0x7FFFFFFFU;
    DLMB_INLINE static float number(std::uint32_t magnitude) { return std::bit_cast<float>(magnitude); }
    DLMB_INLINE static Floats load(Vector stored) { return as<Floats>(stored); }
    DLMB_INLINE static Vector store(Floats value) { return as<Words>(value); }
};
struct Bf16 {
    using Storage = std::uint16_t;
    using Vector = Halves;
    using Magnitudes = HalfPair;
    static constexpr std::uint16_t magnitude_bits = 0x7FFF;
    DLMB_INLINE static float number(std::uint32_t magnitude) { return std::bit_cast<float>(magnitude << 16U); }
    DLMB_INLINE static Floats load(Vector stored) { return as<Floats>(widened(stored) << 16U); }
    DLMB_INLINE static Vector store(Floats value) {
        Words const all = as<Words>(value);
        return halves_of((all + 0x7FFFU + ((all >> 16U) & 1U)) >> 16U);
    }
};
struct Fp16 {
    using Arithmetic = FloatCode<10, 15, 16, 65504>;
    using Storage = std::uint16_t;
    using Vector = Halves;
    using Magnitudes = HalfPair;
    static constexpr std::uint16_t magnitude_bits = 0x7FFF;
    DLMB_INLINE static float number(std::uint32_t magnitude) { return Arithmetic::decode(magnitude - Words{})[0]; }
    DLMB_INLINE static Floats load(Vector stored) { return Arithmetic::decode(widened(stored)); }
    /// A code may be a little above the number that it was made of, and fp16 end in between.
    DLMB_INLINE static Vector store(Floats value) {
        Words const all = as<Words>(value);
        constexpr auto above = ~std::bit_cast<std::uint32_t>(Arithmetic::largest) & 0x7FFFFFFFU;
        // The lesser magnitude is the greater one of the complements.
        Words const magnitude = ~greater_of(~all & 0x7FFFFFFFU, above - Words{}) & 0x7FFFFFFFU;
        return halves_of(Arithmetic::encode(as<Floats>(magnitude | (all & 0x80000000U))));
    }
};

struct Scale {
    float value;
    float inverse;
    std::uint32_t stored;  // in the lowest bytes
};

DLMB_INLINE Scale scale_of(float largest_magnitude, float largest_code, ScaleType type) {
    auto bits = std::bit_cast<std::uint32_t>(largest_magnitude / largest_code);
    if (bits < (1U << 23U)) {
        return {0, 0, 0};
    }
    if (type == ScaleType::e8m0) {
        bits = (bits + 0x7FFFFFU) & 0x7F800000U;  // to the next power of two
    }
    auto const value = std::bit_cast<float>(bits);
    return {value, 1.0F / value, type == ScaleType::e8m0 ? bits >> 23U : bits};
}

DLMB_INLINE float load_scale(std::byte const* scale, ScaleType type) {
    if (type == ScaleType::e8m0) {
        return std::bit_cast<float>(std::to_integer<std::uint32_t>(*scale) << 23U);
    }
    float value = 0;
    std::memcpy(&value, scale, sizeof value);
    return value;
}

template <class Number>
DLMB_INLINE Group load_group(std::byte const* numbers) {
    using Vector = typename Number::Vector;
    return {Number::load(loaded<Vector>(numbers)), Number::load(loaded<Vector>(numbers + sizeof(Vector)))};
}

template <class Number>
DLMB_INLINE void store_group(std::byte* numbers, Group const& values) {
    for (Floats const& value : values) {
        typename Number::Vector const stored = Number::store(value);
        std::memcpy(numbers, &stored, sizeof stored);
        numbers += sizeof stored;
    }
}

/// The codes of two bytes in one, the first in its low half.
DLMB_INLINE Octets joined_halves(Octets low, Octets high) {
    auto const pairs =
        as<Halves>(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                           19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31));
    return octets_of(pairs | (pairs >> static_cast<std::uint16_t>(4)));
}

template <class Arithmetic>
DLMB_INLINE void store_codes(std::byte* to, Group const& numbers, float inverse) {
    Octets const first = octets_of(Arithmetic::encode(numbers[0] * inverse));
    Octets const second = octets_of(Arithmetic::encode(numbers[1] * inverse));
    if constexpr (Arithmetic::width == 4) {
        Octets const codes = joined_halves(first, second);
        std::memcpy(to, &codes, sizeof codes);
    } else {
        std::memcpy(to, &first, sizeof first);
        std::memcpy(to + sizeof first, &second, sizeof second);
    }
}

template <class Arithmetic>
DLMB_INLINE Group load_codes(std::byte const* from, float scale) {
    Octets first;   // NOLINT(cppcoreguidelines-pro-type-member-init): set in both branches
    Octets second;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if constexpr (Arithmetic::width == 4) {
        Halves const both = halves_of(loaded<Octets>(from));
        auto const codes = as<OctetPair>((both & static_cast<std::uint16_t>(0xF)) |
                                         ((both & static_cast<std::uint16_t>(0xF0)) << static_cast<std::uint16_t>(4)));
        first = __builtin_shufflevector(codes, codes, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        second = __builtin_shufflevector(codes, codes, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    } else {
        first = loaded<Octets>(from);
        second = loaded<Octets>(from + sizeof first);
    }
    return {Arithmetic::decode(widened(first)) * scale, Arithmetic::decode(widened(second)) * scale};
}

/// `groups` whole ones.
template <class Arithmetic, class Number>
DLMB_INLINE void pack_block(PackedRow to, std::byte const* numbers, std::uint32_t groups, ScaleType type) {
    using Magnitudes = typename Number::Magnitudes;
    constexpr Bytes group_bytes = group * sizeof(typename Number::Storage);
    Magnitudes largest{};
    for (std::uint32_t i = 0; i < groups * group_bytes / sizeof(Magnitudes); ++i) {
        largest = greater_of(largest, loaded<Magnitudes>(numbers + i * sizeof(Magnitudes)) & Number::magnitude_bits);
    }
    Scale const scale = scale_of(Number::number(largest_of(largest)), Arithmetic::largest, type);
    if (type == ScaleType::e8m0) {
        *to.scales = static_cast<std::byte>(scale.stored);
    } else {
        std::memcpy(to.scales, &scale.stored, sizeof scale.stored);
    }
    for (std::uint32_t i = 0; i < groups; ++i) {
        store_codes<Arithmetic>(to.codes + i * group * Arithmetic::width / 8,
                                load_group<Number>(numbers + i * group_bytes), scale.inverse);
    }
}

template <class Arithmetic, class Number>
DLMB_INLINE void unpack_block(std::byte* numbers, PackedRow from, std::uint32_t groups, ScaleType type) {
    float const scale = load_scale(from.scales, type);
    for (std::uint32_t i = 0; i < groups; ++i) {
        store_group<Number>(numbers + i * group * sizeof(typename Number::Storage),
                            load_codes<Arithmetic>(from.codes + i * group * Arithmetic::width / 8, scale));
    }
}

/// Memory for a block that is not whole: zeros behind its numbers.
template <class Number>
struct PartBlock {
    std::array<std::byte, BlockFormat::largest_block * sizeof(typename Number::Storage)> numbers{};
    std::array<std::byte, BlockFormat::largest_block> codes{};
    DLMB_INLINE static std::uint32_t groups(std::uint64_t count) {
        return static_cast<std::uint32_t>((count + group - 1) / group);
    }
};

template <class Arithmetic, class Number>
DLMB_TARGET void pack(PackedRow to, std::byte const* numbers, std::uint64_t count, BlockFormat const& format) {
    std::uint64_t const whole = count / format.block;
    Bytes const block_bytes = format.block * sizeof(typename Number::Storage);
    for (std::uint64_t block = 0; block < whole; ++block) {
        pack_block<Arithmetic, Number>(to, numbers, format.block / group, format.scale);
        to.codes += format.block * Arithmetic::width / 8;
        to.scales += format.scale_bytes();
        numbers += block_bytes;
    }
    if (std::uint64_t const rest = count % format.block; rest > 0) {
        PartBlock<Number> part;
        std::memcpy(part.numbers.data(), numbers, rest * sizeof(typename Number::Storage));
        pack_block<Arithmetic, Number>({part.codes.data(), to.scales}, part.numbers.data(), part.groups(rest),
                                       format.scale);
        std::memcpy(to.codes, part.codes.data(), format.code_bytes(rest));
    }
}

template <class Arithmetic, class Number>
DLMB_TARGET void unpack(std::byte* numbers, PackedRow from, std::uint64_t count, BlockFormat const& format) {
    std::uint64_t const whole = count / format.block;
    Bytes const block_bytes = format.block * sizeof(typename Number::Storage);
    for (std::uint64_t block = 0; block < whole; ++block) {
        unpack_block<Arithmetic, Number>(numbers, from, format.block / group, format.scale);
        from.codes += format.block * Arithmetic::width / 8;
        from.scales += format.scale_bytes();
        numbers += block_bytes;
    }
    if (std::uint64_t const rest = count % format.block; rest > 0) {
        PartBlock<Number> part;
        std::memcpy(part.codes.data(), from.codes, format.code_bytes(rest));
        unpack_block<Arithmetic, Number>(part.numbers.data(), {part.codes.data(), from.scales}, part.groups(rest),
                                         format.scale);
        std::memcpy(numbers, part.numbers.data(), rest * sizeof(typename Number::Storage));
    }
}

template <class Arithmetic>
constexpr KernelRow row_of() {
    return {{{&pack<Arithmetic, Bf16>, &unpack<Arithmetic, Bf16>},
             {&pack<Arithmetic, Fp16>, &unpack<Arithmetic, Fp16>},
             {&pack<Arithmetic, Fp32>, &unpack<Arithmetic, Fp32>}}};
}

constexpr Kernels own_kernels() {
    return {row_of<Int4>(), row_of<Int8>(), row_of<Fp4>(), row_of<Fp8>(), row_of<Fp8E5m2>()};
}

}  // namespace
}  // namespace dlmb::codec_loop

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loops of block_codec. A file that includes this has included vectors.hpp and defined, for its processors,
// widened(), octets_of(), halves_of(), greater_of(), lesser_of(), least_of(), blended(), unit_of(), unzipped(),
// zipped() and Table16.
//
// Numbers are taken in pairs, the one at the even place in the low half of a word: so two 16-bit numbers become two
// vectors of 32-bit ones by a shift and a mask, and two codes are joined by a shift and an or, where shuffles would
// cost more than the conversion. What a block needs once is done for `lanes` blocks in one vector.
#pragma once

#include "common/backend_kit/block_codec/kernels.hpp"
#include "common/backend_kit/block_codec/vectors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace dlmb::codec_loop {
namespace {

static_assert(std::endian::native == std::endian::little);

/// The numbers that are loaded and stored at once.
inline constexpr std::uint32_t group = 2 * lanes;
static_assert(BlockFormat::smallest_block % group == 0);

// encode() leaves a code in the lowest bits of a word, and whatever there is in the others.

/// Two's complement: adding 1.5 * 2^23 leaves the rounded number in the lowest bits of the sum.
template <unsigned bits>
struct IntegerCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>((1U << (bits - 1U)) - 1U);

    DLMB_INLINE static Words encode(Floats scaled) { return as<Words>(scaled + 12582912.0F); }
    DLMB_INLINE static Floats decode(Words code) {
        return __builtin_convertvector(as<Integers>(code << (32U - bits)) >> static_cast<int>(32U - bits), Floats);
    }
};

/// A sign, exponent bits and `mantissa` bits; numbers above `largest_number` are not coded.
template <unsigned mantissa, unsigned bias, unsigned bits, std::uint32_t largest_number>
struct FloatCode {
    static constexpr unsigned width = bits;
    static constexpr float largest = static_cast<float>(largest_number);

    /// Adding the unit rounds to a step, and leaves the code in the lowest bits.
    DLMB_INLINE static Words encode(Floats scaled) {
        auto const all = as<Words>(scaled);
        Words const magnitude = all & 0x7FFFFFFFU;
        // Below the smallest normal number the distance of numbers stays what it is there.
        Words const normal = greater_of(magnitude, smallest_normal - Words{});
        Words const unit = unit_of<bits - 1U - mantissa, dropped, smallest_normal>(normal);
        auto const code = as<Words>(as<Floats>(magnitude) + as<Floats>(unit));
        return blended(sign_bit - Words{}, all >> (32U - bits), code);
    }
    /// What is right for normal numbers is too much for subnormal ones, and the other way round.
    DLMB_INLINE static Floats decode(Words code) {
        Words const below = (code & (sign_bit - 1U)) << dropped;
        Words const normal = below + (smallest_normal - (1U << 23U));
        // The same bits behind the smallest normal number's exponent are the subnormal and that number.
        auto const subnormal = as<Words>(as<Floats>(below + smallest_normal) - std::bit_cast<float>(smallest_normal));
        return as<Floats>(lesser_of(normal, subnormal) | ((code & sign_bit) << (32U - bits)));
    }

private:
    static constexpr std::uint32_t sign_bit = 1U << (bits - 1U);
    static constexpr std::uint32_t dropped = 23U - mantissa;                // bits of a float's mantissa
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

/// How numbers lie in memory: `load` and `store` of a group, and the magnitudes of numbers, which are in the order of
/// their bits without the signs.
struct Fp32 {
    using Storage = std::uint32_t;
    using Magnitudes = Words;
    static constexpr std::uint32_t magnitude_bits = 0x7FFFFFFFU;
    DLMB_INLINE static Floats numbers(Words magnitudes) { return as<Floats>(magnitudes); }
    DLMB_INLINE static Pairs<Floats> load(std::byte const* from) {
        Pairs<Words> const pairs = unzipped({loaded<Words>(from), loaded<Words>(from + sizeof(Words))});
        return {as<Floats>(pairs.even), as<Floats>(pairs.odd)};
    }
    DLMB_INLINE static void store(std::byte* to, Pairs<Floats> const& values) {
        Pairs<Words> const pairs = zipped({as<Words>(values.even), as<Words>(values.odd)});
        std::memcpy(to, &pairs, sizeof pairs);
    }
};

template <class Number>
struct Number16 {
    using Storage = std::uint16_t;
    using Magnitudes = HalfPair;
    static constexpr std::uint16_t magnitude_bits = 0x7FFF;
    DLMB_INLINE static void store(std::byte* to, Pairs<Floats> const& values) {
        Words const stored = blended(0xFFFFU - Words{}, Number::even_bits(values.even), Number::odd_bits(values.odd));
        std::memcpy(to, &stored, sizeof stored);
    }
};
struct Bf16 : Number16<Bf16> {
    DLMB_INLINE static Floats numbers(Words magnitudes) { return as<Floats>(magnitudes << 16U); }
    DLMB_INLINE static Pairs<Floats> load(std::byte const* from) {
        auto const pairs = loaded<Words>(from);
        return {as<Floats>(pairs << 16U), as<Floats>(pairs & 0xFFFF0000U)};
    }
    DLMB_INLINE static Words even_bits(Floats value) { return rounded(value) >> 16U; }
    DLMB_INLINE static Words odd_bits(Floats value) { return rounded(value); }

private:
    DLMB_INLINE static Words rounded(Floats value) {
        auto const all = as<Words>(value);
        return all + 0x7FFFU + ((all >> 16U) & 1U);
    }
};
struct Fp16 : Number16<Fp16> {
    using Arithmetic = FloatCode<10, 15, 16, 65504>;
    DLMB_INLINE static Floats numbers(Words magnitudes) { return Arithmetic::decode(magnitudes); }
    DLMB_INLINE static Pairs<Floats> load(std::byte const* from) {
        auto const pairs = loaded<Words>(from);
        return {Arithmetic::decode(pairs & 0xFFFFU), Arithmetic::decode(pairs >> 16U)};
    }
    /// A code may be a little above the number that it was made of, and fp16 end in between.
    DLMB_INLINE static Words even_bits(Floats value) {
        auto const all = as<Words>(value);
        Words const magnitude =
            lesser_of(all & 0x7FFFFFFFU, std::bit_cast<std::uint32_t>(Arithmetic::largest) - Words{});
        return Arithmetic::encode(as<Floats>(magnitude | (all & 0x80000000U)));
    }
    DLMB_INLINE static Words odd_bits(Floats value) { return even_bits(value) << 16U; }
};

/// The scales of `lanes` blocks and their inverses.
struct Scales {
    std::array<float, lanes> inverse;
    std::array<std::uint32_t, lanes> fp32;
    std::array<std::uint8_t, lanes> e8m0;
};

DLMB_INLINE Scales scales_of(Floats largest_magnitudes, float largest_code, ScaleType type) {
    auto bits = as<Words>(largest_magnitudes / largest_code);
    auto const none = as<Words>(as<Integers>(bits) < (1 << 23));
    if (type == ScaleType::e8m0) {
        bits = (bits + 0x7FFFFFU) & 0x7F800000U;  // to the next power of two
    }
    auto const inverse = as<Words>(1.0F / as<Floats>(bits | (none & 0x3F800000U))) & ~none;
    bits &= ~none;
    return {as<std::array<float, lanes>>(inverse), as<std::array<std::uint32_t, lanes>>(bits),
            as<std::array<std::uint8_t, lanes>>(octets_of(bits >> 23U))};
}

DLMB_INLINE float load_scale(std::byte const* scale, ScaleType type) {
    if (type == ScaleType::e8m0) {
        return std::bit_cast<float>(std::to_integer<std::uint32_t>(*scale) << 23U);
    }
    float value = 0;
    std::memcpy(&value, scale, sizeof value);
    return value;
}

/// By how much the bits of the number farthest from zero, without its sign, are below the most: processors find the
/// least of 16-bit numbers in one instruction. More than 16 bits of such are of no meaning.
template <class Number>
DLMB_INLINE std::uint32_t distance_to_most(std::byte const* numbers, std::uint32_t groups) {
    using Magnitudes = typename Number::Magnitudes;
    Magnitudes least = Number::magnitude_bits - Magnitudes{};
    for (Bytes at = 0; at < Bytes{groups} * group * sizeof(typename Number::Storage); at += sizeof(Magnitudes)) {
        least = lesser_of(least, ~loaded<Magnitudes>(numbers + at) & Number::magnitude_bits);
    }
    return least_of(least);
}

template <class Arithmetic, class Number>
DLMB_INLINE void pack_group(std::byte* to, std::byte const* numbers, float inverse) {
    Pairs<Floats> const pairs = Number::load(numbers);
    Words const codes = blended(((1U << Arithmetic::width) - 1U) - Words{}, Arithmetic::encode(pairs.even * inverse),
                                Arithmetic::encode(pairs.odd * inverse) << Arithmetic::width);
    if constexpr (Arithmetic::width == 4) {
        Octets const stored = octets_of(codes);
        std::memcpy(to, &stored, sizeof stored);
    } else {
        Halves const stored = halves_of(codes);
        std::memcpy(to, &stored, sizeof stored);
    }
}

/// At most `lanes` blocks.
template <class Arithmetic, class Number>
DLMB_INLINE void pack_blocks(PackedRow to, std::byte const* numbers, std::uint32_t blocks, std::uint32_t groups,
                             ScaleType type) {
    constexpr Bytes group_bytes = group * sizeof(typename Number::Storage);
    constexpr Bytes group_code_bytes = Bytes{group} * Arithmetic::width / 8;
    std::array<std::uint32_t, lanes> distances{};
    for (std::uint32_t block = 0; block < blocks; ++block) {
        distances[block] = distance_to_most<Number>(numbers + Bytes{block} * groups * group_bytes, groups);
    }
    Words const largest = (Number::magnitude_bits - as<Words>(distances)) & Number::magnitude_bits;
    Scales const scales = scales_of(Number::numbers(largest), Arithmetic::largest, type);
    if (type == ScaleType::e8m0) {
        std::memcpy(to.scales, scales.e8m0.data(), blocks);
    } else {
        std::memcpy(to.scales, scales.fp32.data(), blocks * sizeof(float));
    }
    for (std::uint32_t block = 0; block < blocks; ++block) {
        for (std::uint32_t i = 0; i < groups; ++i) {
            pack_group<Arithmetic, Number>(to.codes, numbers, scales.inverse[block]);
            to.codes += group_code_bytes;
            numbers += group_bytes;
        }
    }
}

/// The number of each code of four bits, times the scale.
template <class Arithmetic, class Number>
DLMB_INLINE Table16 table_of(float scale) {
    std::array<std::uint16_t, 16> numbers;  // NOLINT(cppcoreguidelines-pro-type-member-init): set in the loop
    Words codes{};
    for (std::uint32_t i = 0; i < lanes; ++i) {
        codes[i] = i;
    }
    for (std::uint32_t first = 0; first < numbers.size(); first += lanes) {
        Halves const some = halves_of(Number::even_bits(Arithmetic::decode(codes + first) * scale));
        std::memcpy(numbers.data() + first, &some, sizeof some);
    }
    return Table16(numbers);
}

/// The codes of a group, as words.
template <class Arithmetic>
DLMB_INLINE Pairs<Words> load_codes(std::byte const* from) {
    if constexpr (Arithmetic::width == 4) {
        Words const both = widened(loaded<Octets>(from));
        return {both & 0xFU, both >> 4U};
    } else {
        Words const both = widened(loaded<Halves>(from));
        return {both & 0xFFU, both >> 8U};
    }
}

template <class Arithmetic, class Number>
DLMB_INLINE void unpack_block(std::byte* numbers, PackedRow from, std::uint32_t groups, ScaleType type) {
    constexpr Bytes group_bytes = group * sizeof(typename Number::Storage);
    constexpr Bytes group_code_bytes = Bytes{group} * Arithmetic::width / 8;
    float const scale = load_scale(from.scales, type);
    if constexpr (Arithmetic::width == 4 && sizeof(typename Number::Storage) == 2) {
        Table16 const table = table_of<Arithmetic, Number>(scale);
        for (std::uint32_t i = 0; i < groups; ++i) {
            Words const stored = table.at(loaded<Octets>(from.codes + i * group_code_bytes));
            std::memcpy(numbers + i * group_bytes, &stored, sizeof stored);
        }
    } else {
        for (std::uint32_t i = 0; i < groups; ++i) {
            Pairs<Words> const codes = load_codes<Arithmetic>(from.codes + i * group_code_bytes);
            Number::store(numbers + i * group_bytes,
                          {Arithmetic::decode(codes.even) * scale, Arithmetic::decode(codes.odd) * scale});
        }
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
    Bytes const block_bytes = format.block * sizeof(typename Number::Storage);
    for (std::uint64_t left = count / format.block; left > 0;) {
        auto const blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, lanes));
        pack_blocks<Arithmetic, Number>(to, numbers, blocks, format.block / group, format.scale);
        to.codes += blocks * format.code_bytes(format.block);
        to.scales += blocks * format.scale_bytes();
        numbers += blocks * block_bytes;
        left -= blocks;
    }
    if (std::uint64_t const rest = count % format.block; rest > 0) {
        PartBlock<Number> part;
        std::memcpy(part.numbers.data(), numbers, rest * sizeof(typename Number::Storage));
        pack_blocks<Arithmetic, Number>({part.codes.data(), to.scales}, part.numbers.data(), 1, part.groups(rest),
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loops of block_codec. A file that includes this has included vectors.hpp and defined, for its processors,
// widened(), octets_of(), halves_of(), greater_of(), lesser_of(), least_of(), blended(), unit_of(), sign_pairs(),
// unzipped(), zipped() and Table16.
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

// encode() leaves a code in the lowest bits of a word. IntegerCode leaves anything in the others.

/// Two's complement: adding 1.5 * 2^23 leaves the rounded number in the lowest bits of the sum.
template <unsigned bits>
struct IntegerCode {
    static constexpr unsigned width = bits;
    static constexpr bool has_sign_bit = false;
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
    static constexpr bool has_sign_bit = true;
    static constexpr float largest = static_cast<float>(largest_number);

    /// Codes of finite numbers without signs. Adding the unit rounds to a step, and leaves the code in the lowest bits
    /// and zeros in the others of the mantissa: so codes of up to 8 bits are joined by an or. (A block with a number
    /// that is not finite is lost anyway, as its scale is not finite either.)
    DLMB_INLINE static Words encode(Floats magnitude) {
        // Below the smallest normal number the distance of numbers stays what it is there.
        Words const normal = greater_of(as<Words>(magnitude), smallest_normal - Words{});
        return as<Words>(magnitude + as<Floats>(unit_of<bits - 1U - mantissa, dropped, smallest_normal>(normal)));
    }
    DLMB_INLINE static Floats decode(Words code) {
        return as<Floats>(as<Words>(decode_magnitude(code & (sign_bit - 1U))) | ((code & sign_bit) << (32U - bits)));
    }
    /// The formula for normal numbers gives too much for subnormal ones, and the other way round: the smaller one is
    /// right.
    DLMB_INLINE static Floats decode_magnitude(Words code) {
        Words const below = code << dropped;
        Words const normal = below + (smallest_normal - (1U << 23U));
        // The same bits behind the smallest normal number's exponent are the subnormal and that number.
        auto const subnormal = as<Words>(as<Floats>(below + smallest_normal) - std::bit_cast<float>(smallest_normal));
        return as<Floats>(lesser_of(normal, subnormal));
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

/// A group of numbers as signs and magnitudes.
struct SignMagnitudes {
    Pairs<Floats> magnitudes;
    Words signs;  // each in the highest bit of a half of a word; the other bits are of no meaning
};

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
    DLMB_INLINE static SignMagnitudes load_sign_magnitudes(std::byte const* from) {
        Pairs<Floats> const values = load(from);
        auto const even = as<Words>(values.even);
        auto const odd = as<Words>(values.odd);
        return {{as<Floats>(even & magnitude_bits), as<Floats>(odd & magnitude_bits)},
                blended(0xFFFFU - Words{}, even >> 16U, odd)};
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
    DLMB_INLINE static SignMagnitudes load_sign_magnitudes(std::byte const* from) {
        auto const pairs = loaded<Words>(from);
        return {{as<Floats>((pairs << 16U) & 0x7FFFFFFFU), as<Floats>(pairs & 0x7FFF0000U)}, pairs};
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
    DLMB_INLINE static Floats numbers(Words magnitudes) { return Arithmetic::decode_magnitude(magnitudes); }
    DLMB_INLINE static Pairs<Floats> load(std::byte const* from) {
        auto const pairs = loaded<Words>(from);
        return {Arithmetic::decode(pairs & 0xFFFFU), Arithmetic::decode(pairs >> 16U)};
    }
    DLMB_INLINE static SignMagnitudes load_sign_magnitudes(std::byte const* from) {
        auto const pairs = loaded<Words>(from);
        Words const magnitudes = pairs & 0x7FFF7FFFU;
        return {{Arithmetic::decode_magnitude(magnitudes & 0xFFFFU), Arithmetic::decode_magnitude(magnitudes >> 16U)},
                pairs};
    }
    /// A code may be a little above the number that it was made of, and fp16 end in between.
    DLMB_INLINE static Words even_bits(Floats value) {
        auto const all = as<Words>(value);
        Words const magnitude =
            lesser_of(all & 0x7FFFFFFFU, std::bit_cast<std::uint32_t>(Arithmetic::largest) - Words{});
        return blended(0x8000U - Words{}, all >> 16U, Arithmetic::encode(as<Floats>(magnitude)));
    }
    DLMB_INLINE static Words odd_bits(Floats value) { return even_bits(value) << 16U; }
};

/// The scales of so many numbers are found before any of them is packed. A first-level cache holds them until then, and
/// they are several vectors of scales, so that one division need not wait for the other.
inline constexpr std::uint32_t numbers_at_once = 2048;
inline constexpr std::uint32_t blocks_at_once = numbers_at_once / BlockFormat::smallest_block;
static_assert(numbers_at_once % BlockFormat::largest_block == 0 && blocks_at_once % lanes == 0);

/// The scales of blocks and their inverses.
struct Scales {
    std::array<float, blocks_at_once> inverse;
    std::array<std::uint32_t, blocks_at_once> fp32;
    std::array<std::uint8_t, blocks_at_once> e8m0;

    /// Sets the scales of `lanes` blocks, from `first` on.
    DLMB_INLINE void set(std::uint32_t first, Floats largest_magnitudes, float largest_code, ScaleType type) {
        auto bits = as<Words>(largest_magnitudes / largest_code);
        auto const none = as<Words>(as<Integers>(bits) < (1 << 23));
        if (type == ScaleType::e8m0) {
            bits = (bits + 0x7FFFFFU) & 0x7F800000U;  // to the next power of two
        }
        auto const inverses = as<Words>(1.0F / as<Floats>(bits | (none & 0x3F800000U))) & ~none;
        bits &= ~none;
        Octets const exponents = octets_of(bits >> 23U);
        std::memcpy(&inverse[first], &inverses, sizeof inverses);
        std::memcpy(&fp32[first], &bits, sizeof bits);
        std::memcpy(&e8m0[first], &exponents, sizeof exponents);
    }
};

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

/// Two codes in the lowest bits of a word.
template <class Arithmetic, class Number>
DLMB_INLINE Words code_pairs(std::byte const* numbers, float inverse) {
    constexpr unsigned width = Arithmetic::width;
    if constexpr (Arithmetic::has_sign_bit) {
        auto const [magnitudes, signs] = Number::load_sign_magnitudes(numbers);
        return Arithmetic::encode(magnitudes.even * inverse) | (Arithmetic::encode(magnitudes.odd * inverse) << width) |
               sign_pairs<width>(signs);
    } else {
        Pairs<Floats> const pairs = Number::load(numbers);
        return blended(((1U << width) - 1U) - Words{}, Arithmetic::encode(pairs.even * inverse),
                       Arithmetic::encode(pairs.odd * inverse) << width);
    }
}

template <class Arithmetic, class Number>
DLMB_INLINE void pack_group(std::byte* to, std::byte const* numbers, float inverse) {
    Words const codes = code_pairs<Arithmetic, Number>(numbers, inverse);
    if constexpr (Arithmetic::width == 4) {
        Octets const stored = octets_of(codes);
        std::memcpy(to, &stored, sizeof stored);
    } else {
        Halves const stored = halves_of(codes);
        std::memcpy(to, &stored, sizeof stored);
    }
}

template <class Arithmetic, class Number>
DLMB_INLINE Scales find_scales(std::byte const* numbers, std::uint32_t blocks, std::uint32_t groups, ScaleType type) {
    Bytes const block_bytes = Bytes{groups} * group * sizeof(typename Number::Storage);
    std::array<std::uint32_t, blocks_at_once> distances{};
    for (std::uint32_t block = 0; block < blocks; ++block) {
        distances[block] = distance_to_most<Number>(numbers + block * block_bytes, groups);
    }
    Scales scales;  // NOLINT(cppcoreguidelines-pro-type-member-init): those of the blocks are set
    for (std::uint32_t first = 0; first < blocks; first += lanes) {
        auto const some = loaded<Words>(reinterpret_cast<std::byte const*>(&distances[first]));
        Words const largest = (Number::magnitude_bits - some) & Number::magnitude_bits;
        scales.set(first, Number::numbers(largest), Arithmetic::largest, type);
    }
    return scales;
}

/// At most `blocks_at_once` blocks.
template <class Arithmetic, class Number>
DLMB_INLINE void pack_blocks(PackedRow to, std::byte const* numbers, std::uint32_t blocks, std::uint32_t groups,
                             ScaleType type) {
    Scales const scales = find_scales<Arithmetic, Number>(numbers, blocks, groups, type);
    if (type == ScaleType::e8m0) {
        std::memcpy(to.scales, scales.e8m0.data(), blocks);
    } else {
        std::memcpy(to.scales, scales.fp32.data(), blocks * sizeof(float));
    }
    for (std::uint32_t block = 0; block < blocks; ++block) {
        for (std::uint32_t i = 0; i < groups; ++i) {
            pack_group<Arithmetic, Number>(to.codes, numbers, scales.inverse[block]);
            to.codes += Bytes{group} * Arithmetic::width / 8;
            numbers += group * sizeof(typename Number::Storage);
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
        auto const blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, numbers_at_once / format.block));
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

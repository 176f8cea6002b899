// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#define DLMB_LANES 16
#include "common/backend_kit/block_codec/vectors.hpp"

#include <array>
#include <immintrin.h>

namespace dlmb::codec_loop {
namespace {

DLMB_INLINE Words widened(Octets octets) {
    return as<Words>(_mm512_cvtepu8_epi32(as<__m128i>(octets)));
}
DLMB_INLINE Words widened(Halves halves) {
    return as<Words>(_mm512_cvtepu16_epi32(as<__m256i>(halves)));
}
DLMB_INLINE Halves halves_of(Words words) {
    return as<Halves>(_mm512_cvtepi32_epi16(as<__m512i>(words)));
}
DLMB_INLINE Octets octets_of(Words words) {
    return as<Octets>(_mm512_cvtepi32_epi8(as<__m512i>(words)));
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    return as<Words>(_mm512_max_epu32(as<__m512i>(a), as<__m512i>(b)));
}
/// The bits of `a` where `mask` has ones, those of `b` elsewhere.
DLMB_INLINE Words blended(Words mask, Words a, Words b) {
    return as<Words>(_mm512_ternarylogic_epi32(as<__m512i>(mask), as<__m512i>(a), as<__m512i>(b), 0xCA));
}
DLMB_INLINE Words lesser_of(Words a, Words b) {
    return as<Words>(_mm512_min_epu32(as<__m512i>(a), as<__m512i>(b)));
}
DLMB_INLINE HalfPair lesser_of(HalfPair a, HalfPair b) {
    return as<HalfPair>(_mm512_min_epu16(as<__m512i>(a), as<__m512i>(b)));
}
DLMB_INLINE std::uint32_t least_of(Words words) {
    return _mm512_reduce_min_epu32(as<__m512i>(words));
}
DLMB_INLINE std::uint32_t least_of(HalfPair halves) {
    auto const all = as<__m512i>(halves);
    __m256i const half = _mm256_min_epu16(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    __m128i const quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(quarter)));
}
/// From tables of computed_unit(): the lowest four or five bits of the exponent tell those of a code apart.
template <unsigned exponent_bits, unsigned dropped, std::uint32_t smallest_normal>
DLMB_INLINE Words unit_of(Words floats) {
    constexpr std::uint32_t first = smallest_normal >> 23U;
    constexpr std::uint32_t last_bits = exponent_bits > 4 ? 31 : 15;
    constexpr Words places{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Words const low = computed_unit<dropped, smallest_normal>((((places - first) & last_bits) + first) << 23U);
    auto const exponent = as<__m512i>(floats >> 23U);
    if constexpr (exponent_bits > 4) {
        Words const high =
            computed_unit<dropped, smallest_normal>((((places + 16U - first) & last_bits) + first) << 23U);
        return as<Words>(_mm512_permutex2var_epi32(as<__m512i>(low), exponent, as<__m512i>(high)));
    } else {
        return as<Words>(_mm512_permutexvar_epi32(exponent, as<__m512i>(low)));
    }
}
/// The highest bits of the halves of words as the highest bits of two codes, in the lowest bits of words.
template <unsigned width>
DLMB_INLINE Words sign_pairs(Words halves) {
    constexpr std::uint32_t places = (1U << (2U * width + 15U)) | (1U << (width - 1U));
    __m512i const bits = _mm512_srli_epi16(as<__m512i>(halves), 15);
    return as<Words>(_mm512_madd_epi16(bits, as<__m512i>(places - Words{})));
}
DLMB_INLINE Pairs<Words> unzipped(Pairs<Words> const& row) {
    auto const first = as<__m512i>(row.even);
    auto const second = as<__m512i>(row.odd);
    __m512i const even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i const odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return {as<Words>(_mm512_permutex2var_epi32(first, even, second)),
            as<Words>(_mm512_permutex2var_epi32(first, odd, second))};
}
DLMB_INLINE Pairs<Words> zipped(Pairs<Words> const& pairs) {
    auto const even = as<__m512i>(pairs.even);
    auto const odd = as<__m512i>(pairs.odd);
    __m512i const first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    __m512i const second = _mm512_or_si512(first, _mm512_set1_epi32(8));
    return {as<Words>(_mm512_permutex2var_epi32(even, first, odd)),
            as<Words>(_mm512_permutex2var_epi32(even, second, odd))};
}

/// Numbers by codes of four bits. vpermw looks at five bits: the table is there twice.
class Table16 {
public:
    DLMB_INLINE explicit Table16(std::array<std::uint16_t, 16> const& numbers)
        : twice_(_mm512_broadcast_i64x4(as<__m256i>(numbers))) {}
    /// The numbers of pairs of codes, a byte each.
    DLMB_INLINE Words at(Octets pairs) const {
        __m512i const even = _mm512_cvtepu8_epi32(as<__m128i>(pairs));
        return as<Words>(_mm512_permutexvar_epi16(_mm512_or_si512(even, _mm512_slli_epi32(even, 12)), twice_));
    }

private:
    __m512i twice_;
};

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels avx512_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

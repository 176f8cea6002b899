// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET [[gnu::target("avx2")]]
#define DLMB_LANES 8
#include "common/backend_kit/block_codec/vectors.hpp"

#include <array>
#include <immintrin.h>

namespace dlmb::codec_loop {
namespace {

DLMB_INLINE Words widened(Octets octets) {
    return as<Words>(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(as<long long>(octets))));
}
DLMB_INLINE Words widened(Halves halves) {
    return as<Words>(_mm256_cvtepu16_epi32(as<__m128i>(halves)));
}
DLMB_INLINE Halves halves_of(Words words) {
    auto const all = as<__m256i>(words & 0xFFFFU);  // packing saturates
    return as<Halves>(_mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}
DLMB_INLINE Octets octets_of(Words words) {
    auto const all = as<__m256i>(words & 0xFFU);
    __m128i const halves = _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return as<Octets>(_mm_cvtsi128_si64(_mm_packus_epi16(halves, halves)));
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    return as<Words>(_mm256_max_epu32(as<__m256i>(a), as<__m256i>(b)));
}
/// The bits of `a` where `mask` has ones, those of `b` elsewhere.
DLMB_INLINE Words blended(Words mask, Words a, Words b) {
    return (a & mask) | (b & ~mask);
}
DLMB_INLINE Words lesser_of(Words a, Words b) {
    return as<Words>(_mm256_min_epu32(as<__m256i>(a), as<__m256i>(b)));
}
DLMB_INLINE HalfPair lesser_of(HalfPair a, HalfPair b) {
    return as<HalfPair>(_mm256_min_epu16(as<__m256i>(a), as<__m256i>(b)));
}
DLMB_INLINE std::uint32_t least_of(Words words) {
    auto const eight = as<__m256i>(words);
    __m128i const four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i const two = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0b01001110));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_min_epu32(two, _mm_shuffle_epi32(two, 0b10110001))));
}
DLMB_INLINE std::uint32_t least_of(HalfPair halves) {
    auto const all = as<__m256i>(halves);
    __m128i const half = _mm_min_epu16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(half)));
}
template <unsigned exponent_bits, unsigned dropped, std::uint32_t smallest_normal>
DLMB_INLINE Words unit_of(Words floats) {
    return computed_unit<dropped, smallest_normal>(floats);
}
/// The highest bits of the halves of words as the highest bits of two codes, in the lowest bits of words.
template <unsigned width>
DLMB_INLINE Words sign_pairs(Words halves) {
    constexpr std::uint32_t places = (1U << (2U * width + 15U)) | (1U << (width - 1U));
    __m256i const bits = _mm256_srli_epi16(as<__m256i>(halves), 15);
    return as<Words>(_mm256_madd_epi16(bits, as<__m256i>(places - Words{})));
}
DLMB_INLINE Pairs<Words> unzipped(Pairs<Words> const& row) {
    __m256i const order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256i const first = _mm256_permutevar8x32_epi32(as<__m256i>(row.even), order);
    __m256i const second = _mm256_permutevar8x32_epi32(as<__m256i>(row.odd), order);
    return {as<Words>(_mm256_permute2x128_si256(first, second, 0x20)),
            as<Words>(_mm256_permute2x128_si256(first, second, 0x31))};
}
DLMB_INLINE Pairs<Words> zipped(Pairs<Words> const& pairs) {
    __m256i const outer = _mm256_unpacklo_epi32(as<__m256i>(pairs.even), as<__m256i>(pairs.odd));
    __m256i const inner = _mm256_unpackhi_epi32(as<__m256i>(pairs.even), as<__m256i>(pairs.odd));
    return {as<Words>(_mm256_permute2x128_si256(outer, inner, 0x20)),
            as<Words>(_mm256_permute2x128_si256(outer, inner, 0x31))};
}

/// Numbers by codes of four bits: vpshufb finds their bytes in two tables of sixteen.
class Table16 {
public:
    DLMB_INLINE explicit Table16(std::array<std::uint16_t, 16> const& numbers) {
        auto const words = as<__m256i>(numbers);
        __m256i const bytes = _mm256_shuffle_epi8(
            words, _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)));
        low_ = _mm256_permute4x64_epi64(bytes, 0b10001000);
        high_ = _mm256_permute4x64_epi64(bytes, 0b11011101);
    }
    /// The numbers of pairs of codes, a byte each.
    DLMB_INLINE Words at(Octets pairs) const {
        auto const even = as<__m256i>(widened(pairs));
        __m256i const codes =
            _mm256_and_si256(_mm256_or_si256(even, _mm256_slli_epi32(even, 12)), _mm256_set1_epi32(0x000F000F));
        __m256i const twice = _mm256_or_si256(codes, _mm256_slli_epi32(codes, 8));
        return as<Words>(_mm256_blendv_epi8(_mm256_shuffle_epi8(low_, twice), _mm256_shuffle_epi8(high_, twice),
                                            _mm256_set1_epi16(-256)));
    }

private:
    __m256i low_;
    __m256i high_;
};

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels avx2_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET [[gnu::target("avx2")]]
#include "common/backend_kit/block_codec/vectors.hpp"

#include <cstring>
#include <immintrin.h>

namespace dlmb::codec_loop {
namespace {

struct Pair {
    __m256i low, high;
};
DLMB_INLINE Words joined(Pair const& pair) {
    Words words;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied in the next line
    std::memcpy(&words, &pair, sizeof words);
    return words;
}
DLMB_INLINE Pair parts(Words const& words) {
    Pair pair;  // NOLINT(cppcoreguidelines-pro-type-member-init): copied in the next line
    std::memcpy(&pair, &words, sizeof pair);
    return pair;
}

DLMB_INLINE Words widened(Octets octets) {
    auto const all = as<__m128i>(octets);
    return joined({_mm256_cvtepu8_epi32(all), _mm256_cvtepu8_epi32(_mm_srli_si128(all, 8))});
}
DLMB_INLINE Words widened(Halves halves) {
    auto const all = as<__m256i>(halves);
    return joined(
        {_mm256_cvtepu16_epi32(_mm256_castsi256_si128(all)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(all, 1))});
}
DLMB_INLINE Halves halves_of(Octets octets) {
    return as<Halves>(_mm256_cvtepu8_epi16(as<__m128i>(octets)));
}
/// Words below 2^16: packing saturates.
DLMB_INLINE Halves halves_of(Words words) {
    Pair const pair = parts(words);
    return as<Halves>(_mm256_permute4x64_epi64(_mm256_packus_epi32(pair.low, pair.high), 0b11011000));
}
DLMB_INLINE Octets octets_of(Halves halves) {
    auto const all = _mm256_and_si256(as<__m256i>(halves), _mm256_set1_epi16(0xFF));
    return as<Octets>(_mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}
DLMB_INLINE Octets octets_of(Words words) {
    return octets_of(halves_of(words));
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    Pair const left = parts(a);
    Pair const right = parts(b);
    return joined({_mm256_max_epu32(left.low, right.low), _mm256_max_epu32(left.high, right.high)});
}
DLMB_INLINE HalfPair greater_of(HalfPair a, HalfPair b) {
    Pair const left = parts(as<Words>(a));
    Pair const right = parts(as<Words>(b));
    return as<HalfPair>(joined({_mm256_max_epu16(left.low, right.low), _mm256_max_epu16(left.high, right.high)}));
}
DLMB_INLINE std::uint32_t largest_of(Words words) {
    Pair const pair = parts(words);
    __m256i const eight = _mm256_max_epu32(pair.low, pair.high);
    __m128i const four = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i const two = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0b01001110));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32(two, 0b10110001))));
}
/// The least of complements is what an instruction finds.
DLMB_INLINE std::uint32_t largest_of(HalfPair halves) {
    Pair const pair = parts(as<Words>(halves));
    __m256i const half = _mm256_max_epu16(pair.low, pair.high);
    __m128i const quarter = _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    __m128i const least = _mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi16(-1)));
    return ~static_cast<std::uint32_t>(_mm_cvtsi128_si32(least)) & 0xFFFFU;
}

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels avx2_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

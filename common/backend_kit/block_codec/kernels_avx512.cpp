// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#include "common/backend_kit/block_codec/vectors.hpp"

#include <immintrin.h>

namespace dlmb::codec_loop {
namespace {

DLMB_INLINE Words widened(Octets octets) {
    return as<Words>(_mm512_cvtepu8_epi32(as<__m128i>(octets)));
}
DLMB_INLINE Words widened(Halves halves) {
    return as<Words>(_mm512_cvtepu16_epi32(as<__m256i>(halves)));
}
DLMB_INLINE Halves halves_of(Octets octets) {
    return as<Halves>(_mm256_cvtepu8_epi16(as<__m128i>(octets)));
}
DLMB_INLINE Halves halves_of(Words words) {
    return as<Halves>(_mm512_cvtepi32_epi16(as<__m512i>(words)));
}
DLMB_INLINE Octets octets_of(Halves halves) {
    return as<Octets>(_mm256_cvtepi16_epi8(as<__m256i>(halves)));
}
DLMB_INLINE Octets octets_of(Words words) {
    return as<Octets>(_mm512_cvtepi32_epi8(as<__m512i>(words)));
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    return as<Words>(_mm512_max_epu32(as<__m512i>(a), as<__m512i>(b)));
}
DLMB_INLINE HalfPair greater_of(HalfPair a, HalfPair b) {
    return as<HalfPair>(_mm512_max_epu16(as<__m512i>(a), as<__m512i>(b)));
}
DLMB_INLINE std::uint32_t largest_of(Words words) {
    return _mm512_reduce_max_epu32(as<__m512i>(words));
}
/// The least of complements is what an instruction finds.
DLMB_INLINE std::uint32_t largest_of(HalfPair halves) {
    auto const all = as<__m512i>(halves);
    __m256i const half = _mm256_max_epu16(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    __m128i const quarter = _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    __m128i const least = _mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi16(-1)));
    return ~static_cast<std::uint32_t>(_mm_cvtsi128_si32(least)) & 0xFFFFU;
}

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels avx512_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

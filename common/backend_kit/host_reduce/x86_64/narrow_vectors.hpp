// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Eight fp16 or bf16 numbers at once, by AVX2 and F16C: the same bits as small_float, a NaN's included.
#pragma once

#include "common/memory/small_float.hpp"

#include <immintrin.h>

namespace dlmb {

template <class Format>
struct NarrowVector;

template <>
struct NarrowVector<small_float::Fp16> {
    [[gnu::target("avx2,f16c")]] static __m256 decode(__m128i codes) { return _mm256_cvtph_ps(codes); }
    /// A NaN keeps its sign only.
    [[gnu::target("avx2,f16c")]] static __m128i encode(__m256 values) {
        __m128i const codes = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        __m128i const magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7FFF));
        __m128i const is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7C00));
        __m128i const nan = _mm_or_si128(_mm_andnot_si128(_mm_set1_epi16(0x7FFF), codes), _mm_set1_epi16(0x7E00));
        return _mm_blendv_epi8(codes, nan, is_nan);
    }
};

template <>
struct NarrowVector<small_float::Bf16> {
    [[gnu::target("avx2,f16c")]] static __m256 decode(__m128i codes) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
    }
    /// A NaN keeps its upper half and becomes a quiet one.
    [[gnu::target("avx2,f16c")]] static __m128i encode(__m256 values) {
        __m256i const bits = _mm256_castps_si256(values);
        __m256i const upper = _mm256_srli_epi32(bits, 16);
        __m256i const last = _mm256_and_si256(upper, _mm256_set1_epi32(1));
        __m256i const rounded =
            _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), last), 16);
        __m256i const nan = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
        __m256i const is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        __m256i const codes = _mm256_blendv_epi8(rounded, nan, is_nan);
        return _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
    }
};

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The formats of 16 bits by AVX2 and F16C where the processor has both; memory is what the others wait for, also
// without. Functions are made for these processors one by one: in a file made with -mavx2 inline functions that other
// files share would become AVX2 code too.
#include "common/backend_kit/host_reduce/reduce_loop.hpp"

#include <array>
#include <cpuid.h>
#include <cstring>
#include <immintrin.h>

namespace dlmb {
namespace {

using combine::Greatest;
using combine::Least;
using combine::Product;
using combine::Sum;

template <class Format>
using Codec16 = SmallFloatCodec<Format, std::uint16_t>;

/// Eight fp16 or bf16 numbers at once: the same bits as small_float, a NaN's included.
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

/// The right one of two NaNs, in whichever order a compiler adds.
[[gnu::target("avx2,f16c")]] inline __m256 or_right_nan(__m256 result, __m256 right) {
    return _mm256_blendv_ps(result, right, _mm256_cmp_ps(right, right, _CMP_UNORD_Q));
}

[[gnu::target("avx2,f16c")]] inline __m256 combined(__m256 a, __m256 b, Sum /*sum*/) {
    return or_right_nan(_mm256_add_ps(a, b), b);
}
[[gnu::target("avx2,f16c")]] inline __m256 combined(__m256 a, __m256 b, Product /*product*/) {
    return or_right_nan(_mm256_mul_ps(a, b), b);
}
// With a NaN the instruction's second operand is the result, as where the comparison of Least is false.
[[gnu::target("avx2,f16c")]] inline __m256 combined(__m256 a, __m256 b, Least /*least*/) {
    return _mm256_min_ps(b, a);
}
[[gnu::target("avx2,f16c")]] inline __m256 combined(__m256 a, __m256 b, Greatest /*greatest*/) {
    return _mm256_max_ps(b, a);
}

template <class Format, class Combine>
[[gnu::target("avx2,f16c")]] inline void fold_vector(std::byte* to, std::byte const* left, std::byte const* right,
                                                     Combine combine) {
    using SimdVector = NarrowVector<Format>;
    __m256 const a = SimdVector::decode(_mm_loadu_si128(reinterpret_cast<__m128i const*>(left)));
    __m256 const b = SimdVector::decode(_mm_loadu_si128(reinterpret_cast<__m128i const*>(right)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), SimdVector::encode(combined(a, b, combine)));
}

template <class Format, class Combine>
[[gnu::target("avx2,f16c")]] void fold_vectors(std::byte* to, std::byte const* left, std::byte const* right,
                                               Bytes bytes, Combine combine) {
    constexpr Bytes step = sizeof(__m128i);
    Bytes done = 0;
    for (; done + step <= bytes; done += step) {
        fold_vector<Format>(to + done, left + done, right + done, combine);
    }
    if (done < bytes) {
        std::array<std::byte, step> a{};
        std::array<std::byte, step> b{};
        std::memcpy(a.data(), left + done, bytes - done);
        std::memcpy(b.data(), right + done, bytes - done);
        fold_vector<Format>(a.data(), a.data(), b.data(), combine);
        std::memcpy(to + done, a.data(), bytes - done);
    }
}

bool has_avx2_and_f16c() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    // clang 14 does not know f16c by name.
    bool const f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
    return f16c && __builtin_cpu_supports("avx2") != 0;
}

struct SimdFold {
    std::byte* to;
    std::byte const* left;
    std::byte const* right;
    Bytes bytes;
    bool wide;

    template <class Codec, class Combine>
    void operator()(Codec /*codec*/, Combine combine) const {
        reduce_loop::fold<Codec>(to, left, right, bytes, combine);
    }
    template <class Format, class Combine>
    void operator()(Codec16<Format> /*codec*/, Combine combine) const {
        if (wide) {
            fold_vectors<Format>(to, left, right, bytes, combine);
        } else {
            reduce_loop::fold<Codec16<Format>>(to, left, right, bytes, combine);
        }
    }
};

}  // namespace

void wide_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction) {
    static bool const wide = has_avx2_and_f16c();
    reduce_loop::with_fold(element, reduction, SimdFold{to, left, right, bytes, wide});
}

}  // namespace dlmb

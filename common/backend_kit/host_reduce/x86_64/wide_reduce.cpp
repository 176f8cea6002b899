// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The formats of 16 bits by AVX2 and F16C where the processor has both; memory is what the others wait for, also
// without. Functions are made for these processors one by one: in a file made with -mavx2 inline functions that other
// files share would become AVX2 code too.
#include "common/backend_kit/host_reduce/wide_reduce.hpp"

#include "common/backend_kit/host_reduce/internal/reduce_loop.hpp"
#include "common/backend_kit/host_reduce/x86_64/narrow_vectors.hpp"

#include <array>
#include <cpuid.h>
#include <cstring>

namespace dlmb {
namespace {

using reduce_loop::Greatest;
using reduce_loop::Least;
using reduce_loop::Product;
using reduce_loop::Sum;

template <class Format>
using Codec16 = SmallFloatCodec<Format, std::uint16_t>;

/// Of two NaNs the right one, whichever way round a compiler adds.
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
    using Vector = NarrowVector<Format>;
    __m256 const a = Vector::decode(_mm_loadu_si128(reinterpret_cast<__m128i const*>(left)));
    __m256 const b = Vector::decode(_mm_loadu_si128(reinterpret_cast<__m128i const*>(right)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), Vector::encode(combined(a, b, combine)));
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

struct Fold {
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
    reduce_loop::with_fold(element, reduction, Fold{to, left, right, bytes, wide});
}

}  // namespace dlmb

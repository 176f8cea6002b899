// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// With the streaming stores of SSE2, which every x86-64 has, a cache line at a time.
#include "common/backends/ucx/stream_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <emmintrin.h>

namespace dlmb::ucx {

void stream_copy(std::byte* to, std::byte const* from, Bytes bytes) {
    constexpr Bytes line = 64;
    Bytes const head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
    std::memcpy(to, from, head);
    Bytes at = head;
    for (; at + line <= bytes; at += line) {
        auto const* const source = reinterpret_cast<__m128i const*>(from + at);
        auto* const target = reinterpret_cast<__m128i*>(to + at);
        __m128i const first = _mm_loadu_si128(source);
        __m128i const second = _mm_loadu_si128(source + 1);
        __m128i const third = _mm_loadu_si128(source + 2);
        __m128i const fourth = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, first);
        _mm_stream_si128(target + 1, second);
        _mm_stream_si128(target + 2, third);
        _mm_stream_si128(target + 3, fourth);
    }
    std::memcpy(to + at, from + at, bytes - at);
    _mm_sfence();  // streaming stores are not in the order of others
}

}  // namespace dlmb::ucx

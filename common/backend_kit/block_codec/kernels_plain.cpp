// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET
#include "common/backend_kit/block_codec/vectors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace dlmb::codec_loop {
namespace {

DLMB_INLINE Words widened(Octets octets) {
    return __builtin_convertvector(octets, Words);
}
DLMB_INLINE Words widened(Halves halves) {
    return __builtin_convertvector(halves, Words);
}
DLMB_INLINE Halves halves_of(Octets octets) {
    return __builtin_convertvector(octets, Halves);
}
DLMB_INLINE Halves halves_of(Words words) {
    return __builtin_convertvector(words, Halves);
}
DLMB_INLINE Octets octets_of(Halves halves) {
    return __builtin_convertvector(halves, Octets);
}
DLMB_INLINE Octets octets_of(Words words) {
    return __builtin_convertvector(words, Octets);
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    return as<Integers>(a) > as<Integers>(b) ? a : b;  // without signs
}
DLMB_INLINE HalfPair greater_of(HalfPair a, HalfPair b) {
    return a > b ? a : b;
}
template <class Vector>
DLMB_INLINE std::uint32_t largest_of(Vector vector) {
    std::array<std::remove_cvref_t<decltype(vector[0])>, sizeof vector / sizeof vector[0]> all;
    std::memcpy(all.data(), &vector, sizeof all);
    return *std::max_element(all.begin(), all.end());
}

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels plain_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

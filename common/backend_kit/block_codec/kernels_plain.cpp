// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#define DLMB_TARGET
#define DLMB_LANES 4
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
DLMB_INLINE Halves halves_of(Words words) {
    return __builtin_convertvector(words, Halves);
}
DLMB_INLINE Octets octets_of(Words words) {
    return __builtin_convertvector(words, Octets);
}
DLMB_INLINE Words greater_of(Words a, Words b) {
    return as<Integers>(a) > as<Integers>(b) ? a : b;  // without signs
}
/// The bits of `a` where `mask` has ones, those of `b` elsewhere.
DLMB_INLINE Words blended(Words mask, Words a, Words b) {
    return (a & mask) | (b & ~mask);
}
DLMB_INLINE Words lesser_of(Words a, Words b) {
    return as<Integers>(a) < as<Integers>(b) ? a : b;  // without signs
}
DLMB_INLINE HalfPair lesser_of(HalfPair a, HalfPair b) {
    return a < b ? a : b;
}
template <class Vector>
DLMB_INLINE std::uint32_t least_of(Vector vector) {
    std::array<std::remove_cvref_t<decltype(vector[0])>, sizeof vector / sizeof vector[0]> all;
    std::memcpy(all.data(), &vector, sizeof all);
    return *std::min_element(all.begin(), all.end());
}
template <unsigned exponent_bits, unsigned dropped, std::uint32_t smallest_normal>
DLMB_INLINE Words unit_of(Words floats) {
    return computed_unit<dropped, smallest_normal>(floats);
}
/// The highest bits of the halves of words as the highest bits of two codes, in the lowest bits of words.
template <unsigned width>
DLMB_INLINE Words sign_pairs(Words halves) {
    return ((halves >> (16U - width)) & (1U << (width - 1U))) |
           ((halves >> (32U - 2U * width)) & (1U << (2U * width - 1U)));
}
DLMB_INLINE Pairs<Words> unzipped(Pairs<Words> const& row) {
    return {__builtin_shufflevector(row.even, row.odd, 0, 2, 4, 6),
            __builtin_shufflevector(row.even, row.odd, 1, 3, 5, 7)};
}
DLMB_INLINE Pairs<Words> zipped(Pairs<Words> const& pairs) {
    return {__builtin_shufflevector(pairs.even, pairs.odd, 0, 4, 1, 5),
            __builtin_shufflevector(pairs.even, pairs.odd, 2, 6, 3, 7)};
}

/// Numbers by codes of four bits.
class Table16 {
public:
    explicit Table16(std::array<std::uint16_t, 16> const& numbers) : numbers_(numbers) {}
    /// The numbers of pairs of codes, a byte each.
    DLMB_INLINE Words at(Octets pairs) const {
        std::array<std::uint16_t, 2 * std::size_t{lanes}> found{};
        for (std::size_t i = 0; i < lanes; ++i) {
            found[2 * i] = numbers_[pairs[i] & 0xFU];
            found[2 * i + 1] = numbers_[pairs[i] >> 4U];
        }
        return as<Words>(found);
    }

private:
    std::array<std::uint16_t, 16> numbers_;
};

}  // namespace
}  // namespace dlmb::codec_loop

#include "common/backend_kit/block_codec/codec_loop.hpp"

namespace dlmb::codec_loop {

Kernels plain_kernels() {
    return own_kernels();
}

}  // namespace dlmb::codec_loop

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The vector types of GCC and clang that block_codec computes in: as wide as the registers, because compilers make poor
// code of wider ones. (Neither makes vector code of plain loops of these conversions.) A file that includes this
// defines DLMB_TARGET, the attribute that names the processors it is for, and DLMB_LANES, the floats in a register of
// theirs. Each function carries the attribute. Nothing in these files is shared by several: one with AVX2 code would be
// called on any processor.
#pragma once

#include <cstdint>

#define DLMB_INLINE [[gnu::always_inline]] DLMB_TARGET inline

namespace dlmb::codec_loop {
namespace {

inline constexpr std::uint32_t lanes = DLMB_LANES;
using Floats [[gnu::vector_size(lanes * 4)]] = float;
using Words [[gnu::vector_size(lanes * 4)]] = std::uint32_t;
using Integers [[gnu::vector_size(lanes * 4)]] = std::int32_t;
using Halves [[gnu::vector_size(lanes * 2)]] = std::uint16_t;
using Octets [[gnu::vector_size(lanes)]] = std::uint8_t;
using HalfPair [[gnu::vector_size(lanes * 4)]] = std::uint16_t;

/// One vector for the numbers at even places and one for those at odd places. Also two vectors in a row.
template <class Vector>
struct Pairs {
    Vector even;
    Vector odd;
};

/// The same bits.
template <class To, class From>
DLMB_INLINE To as(From from) {
    return __builtin_bit_cast(To, from);
}

/// The number that FloatCode::encode() adds to a float of at least `smallest_normal`, by its exponent. Its last bit is
/// worth one step of the code there. Its lowest bits hold the steps below this exponent, an even number.
template <unsigned dropped, std::uint32_t smallest_normal>
DLMB_INLINE Words computed_unit(Words floats) {
    Words const exponent = floats & 0x7F800000U;
    return exponent + (exponent >> dropped) + ((dropped << 23U) - (smallest_normal >> dropped));
}

}  // namespace
}  // namespace dlmb::codec_loop

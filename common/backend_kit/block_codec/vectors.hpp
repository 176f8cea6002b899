// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The vector types of GCC and clang that block_codec computes in: sixteen lanes, which compilers split where registers
// are narrower. (Neither makes vector code of plain loops of these conversions.) A file that includes this defines
// DLMB_TARGET, the attribute that names the processors it is for. Each function carries it: GCC splits vectors before
// it inlines. Nothing in these files is shared by several: one with AVX2 code would be called on any processor.
#pragma once

#include <cstdint>

#define DLMB_INLINE [[gnu::always_inline]] DLMB_TARGET inline

namespace dlmb::codec_loop {
namespace {

inline constexpr std::uint32_t lanes = 16;
using Floats [[gnu::vector_size(lanes * 4)]] = float;
using Words [[gnu::vector_size(lanes * 4)]] = std::uint32_t;
using Integers [[gnu::vector_size(lanes * 4)]] = std::int32_t;
using Halves [[gnu::vector_size(lanes * 2)]] = std::uint16_t;
using Octets [[gnu::vector_size(lanes)]] = std::uint8_t;
using HalfPair [[gnu::vector_size(lanes * 4)]] = std::uint16_t;
using OctetPair [[gnu::vector_size(2 * lanes)]] = std::uint8_t;

/// The same bits.
template <class To, class From>
DLMB_INLINE To as(From from) {
    return __builtin_bit_cast(To, from);
}

}  // namespace
}  // namespace dlmb::codec_loop

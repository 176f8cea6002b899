// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of numbers to blocks of low precision and back, on memory that the host can address.
//
// The scale of a block is amax / M (M the largest number of the code: 7, 127, 6, 448, 57344), for e8m0 the next power
// of two that is not below it. So no number saturates, where the rule of the MX specification (section 6.3: the
// exponent of amax less that of M, rounded down) lets some. A code is round(x * (1 / scale)), ties to even, in fp32.
// Numbers have to be finite. A block whose amax / M is below 2^-126 becomes zeros, its scale as well.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace dlmb {

/// Where a row lies: `codes` of packed rows, `scales` behind them. Any alignment.
struct PackedRow {
    std::byte* codes;
    std::byte* scales;
    [[nodiscard]] static PackedRow at(std::byte* row, BlockFormat const& format, std::uint64_t numbers) {
        return {row, row + format.code_bytes(numbers)};
    }
    /// From number `first` on, a multiple of the block.
    [[nodiscard]] PackedRow from(std::uint64_t first, BlockFormat const& format) const {
        return {codes + format.code_bytes(first), scales + format.blocks(first) * format.scale_bytes()};
    }
};

/// `element`: bf16, fp16 or fp32.
void host_pack(PackedRow to, std::byte const* numbers, std::uint64_t count, Element element, BlockFormat const& format);
void host_unpack(std::byte* numbers, PackedRow from, std::uint64_t count, Element element, BlockFormat const& format);

/// |x - packed and unpacked x| is at most this times the scale for |x| / scale = `magnitude`: half the distance of the
/// code's numbers there, in numbers without rounding of fp32.
[[nodiscard]] double half_step(Code code, double magnitude);

/// half_step() is at least this times the magnitude: 2^-(mantissa bits + 2), and 0 of integers.
[[nodiscard]] double least_half_step(Code code);

/// The most by which unpack(pack(x)) in `element` may differ from x: half_step() times the scale, and half a unit in
/// the last place of the element, and what multiplying by a rounded 1 / scale adds (2^-22 of |x|).
[[nodiscard]] double error_bound(double x, double scale, Element element, Code code);

/// The scale as a number.
[[nodiscard]] double scale_at(std::byte const* scale, ScaleType type);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Low-precision numbers in blocks that share a scale, as they travel: the OCP microscaling formats (MX 1.0) and those
// with fp32 scales that quantised collectives use.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb {

/// int4, int8: two's complement, symmetric. fp4: OCP E2M1. fp8: OCP E4M3. fp8_e5m2: OCP E5M2.
enum class Code : std::uint8_t { int4, int8, fp4, fp8, fp8_e5m2 };
/// e8m0: a power of two as its biased exponent.
enum class ScaleType : std::uint8_t { fp32, e8m0 };

[[nodiscard]] std::string_view name_of(Code code);

/// A row of n numbers is ceil(n * bits / 8) bytes of codes, of two in a byte the first in the low half, and behind them
/// a scale per started block.
struct BlockFormat {
    Code code = Code::int8;
    std::uint32_t block = 32;  // numbers per scale: 32, 64, 128 ... largest_block
    ScaleType scale = ScaleType::fp32;
    bool operator==(BlockFormat const&) const = default;

    static constexpr std::uint32_t smallest_block = 32;
    static constexpr std::uint32_t largest_block = 1024;

    [[nodiscard]] constexpr Bytes scale_bytes() const { return scale == ScaleType::fp32 ? 4 : 1; }
    [[nodiscard]] constexpr Bytes code_bytes(std::uint64_t numbers) const {
        return code == Code::int4 || code == Code::fp4 ? numbers / 2 + numbers % 2 : numbers;
    }
    [[nodiscard]] constexpr std::uint64_t blocks(std::uint64_t numbers) const {
        return numbers / block + (numbers % block == 0 ? 0 : 1);
    }
    [[nodiscard]] constexpr Bytes row_bytes(std::uint64_t numbers) const {
        return code_bytes(numbers) + blocks(numbers) * scale_bytes();
    }
};

/// CODE:BLOCK:SCALE, as block_format_named() reads it.
[[nodiscard]] std::string to_string(BlockFormat const& format);

/// The names that block_format_named() takes.
inline constexpr char const* block_format_names =
    "mxfp4, mxfp8 (E4M3), mxfp8_e5m2, mxint8, or CODE:BLOCK:SCALE with CODE int4, int8, fp4, fp8 (E4M3) or fp8_e5m2, "
    "BLOCK a power of two from 32 to 1024 and SCALE fp32 or e8m0: int4:32:fp32";

/// Nothing for a name that is not in block_format_names.
[[nodiscard]] std::optional<BlockFormat> block_format_named(std::string_view name);

}  // namespace dlmb

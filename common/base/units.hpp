// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The integer types that carry a unit, and the strict reading and printing of sizes ("4M").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dlmb {

using Bytes = std::uint64_t;
using Nanoseconds = std::int64_t;
inline constexpr double nanoseconds_per_microsecond = 1000;
using Rank = int;

/// Reads "4096", "64K", "1M" or "2G" (powers of 1024). Anything else, "1MB" included, throws UsageError
/// whose text starts with `what` (the option's name) and says what to write instead.
[[nodiscard]] Bytes parse_bytes(std::string_view text, std::string_view what);

/// "64 K", "1.5 G" or "17 B": for human eyes, three significant digits, powers of 1024.
[[nodiscard]] std::string human_bytes(Bytes bytes);

/// Microseconds with three significant decimals: the unit of every human table.
[[nodiscard]] std::string human_us(double nanoseconds);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as people read them: as many digits as they can compare at a glance.
#pragma once

#include <string>

namespace dlmb {

/// Four significant digits, at most three of them behind the point, and no exponent: "0.024", "12.35", "123.5",
/// "12350".
[[nodiscard]] std::string four_digits(double value);

/// "850 ns", "4 us", "12.3 ms", "1.5 s".
[[nodiscard]] std::string human_duration(double nanoseconds);

/// "0.4 %", "8 %", "over 1000 %": whole above 1 %.
[[nodiscard]] std::string human_percent(double share);

/// "1 cell", "2 cells".
[[nodiscard]] std::string counted(unsigned long long count, char const* noun);

}  // namespace dlmb

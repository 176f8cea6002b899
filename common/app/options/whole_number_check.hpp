// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// For CLI11's check() of an option without a range: CLI11 by itself reads -3 as 2^64 - 3.
#pragma once

#include "common/base/units.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace dlmb::app {

/// Empty: it is a whole number of 64 bits, in decimal digits.
[[nodiscard]] inline std::string whole_number_check(std::string const& text) {
    return parse_whole<std::uint64_t>(text)
               ? std::string()
               : fmt::format("'{}' is no whole number from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace dlmb::app

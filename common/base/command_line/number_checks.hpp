// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// For CLI11's check(): CLI11 by itself reads -3 as 2^64 - 3, and takes nan and inf, also within CLI::Range.
#pragma once

#include "common/base/units.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace dlmb {

/// Empty: it is a whole number of 64 bits, in decimal digits.
[[nodiscard]] inline std::string whole_number_check(std::string const& text) {
    return parse_whole<std::uint64_t>(text)
               ? std::string()
               : fmt::format("'{}' is no whole number from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
}

/// A finite number from `min` to `max`, in decimal digits.
[[nodiscard]] inline CLI::Validator number_check(double min, double max) {
    auto const check = [min, max](std::string const& text) {
        auto const number = parse_whole<double>(text);
        return number && min <= *number && *number <= max
                   ? std::string()
                   : fmt::format("Value {} not in range {} to {}", text, min, max);
    };
    return {check, fmt::format("FLOAT in [{} - {}]", min, max)};
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/units.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>

namespace dlmb {
Bytes parse_bytes(std::string_view text, std::string_view what) {
    constexpr std::string_view letters = "KMG";
    std::size_t const letter = text.empty() ? std::string_view::npos : letters.find(text.back());
    bool const whole = letter == std::string_view::npos;
    auto const number = parse_whole<Bytes>(whole ? text : text.substr(0, text.size() - 1));
    if (!number) {
        throw UsageError(fmt::format(
            "{} '{}': expected a number of bytes with K, M or G (powers of 1024), for example 64K", what, text));
    }
    std::size_t const shift = whole ? 0 : 10 * (letter + 1);
    if (*number > (std::numeric_limits<Bytes>::max() >> shift)) {
        throw UsageError(fmt::format("{} '{}': above 2^64 bytes", what, text));
    }
    return *number << shift;
}

std::string human_bytes(Bytes bytes) {
    constexpr std::array<char const*, 5> units{"B", "K", "M", "G", "T"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.4g} {}", value, units[unit]);
}

std::string human_us(double nanoseconds) {
    return fmt::format("{:.3f}", nanoseconds / 1000);
}

}  // namespace dlmb

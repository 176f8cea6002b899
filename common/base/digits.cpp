// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace dlmb {

std::string four_digits(double value) {
    constexpr int digits = 4;
    constexpr int most_decimals = 3;
    if (value == 0 || !std::isfinite(value)) {
        return fmt::format("{:.3f}", value);
    }
    std::string const rounded = fmt::format("{:.{}e}", value, digits - 1);  // 9.9996 is 1.000e+01
    std::size_t const mark = rounded.find('e');
    int exponent = 0;
    std::size_t const first_digit = mark + (rounded[mark + 1] == '+' ? 2 : 1);
    std::from_chars(rounded.data() + first_digit, rounded.data() + rounded.size(), exponent);
    int const decimals = digits - 1 - exponent;
    if (decimals >= 0) {
        return fmt::format("{:.{}f}", value, std::min(decimals, most_decimals));
    }
    // Not by a power of ten: the C library of this project links no libm.
    std::string whole = rounded.substr(0, mark);
    whole.erase(whole.find('.'), 1);
    return whole.append(static_cast<std::size_t>(-decimals), '0');
}

std::string human_duration(double nanoseconds) {
    constexpr std::array<char const*, 4> units{"ns", "us", "ms", "s"};
    std::size_t unit = 0;
    constexpr double rounds_to_1000 = 999.5;
    while (nanoseconds >= rounds_to_1000 && unit + 1 < units.size()) {
        nanoseconds /= 1000;
        ++unit;
    }
    return nanoseconds >= rounds_to_1000 ? fmt::format("{:.0f} {}", nanoseconds, units.at(unit))
                                         : fmt::format("{:.3g} {}", nanoseconds, units.at(unit));
}

std::string human_percent(double share) {
    constexpr double most = 1000;
    double const percent = 100 * share;
    if (percent > most) {
        return "over 1000 %";
    }
    return percent < 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string counted(unsigned long long count, char const* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/units.hpp"

#include "common/base/digits.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>

namespace dlmb {
namespace {

/// Digits behind a decimal point, times 2^shift; nullopt: no digits, too many, or no whole number comes out.
std::optional<Bytes> whole_part_of_fraction(std::string_view digits, std::size_t shift) {
    constexpr std::size_t most_digits = 12;
    auto const number = digits.size() <= most_digits ? parse_whole<Bytes>(digits) : std::nullopt;
    if (!number) {
        return std::nullopt;
    }
    Bytes denominator = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        denominator *= 10;
    }
    __extension__ using Wide = unsigned __int128;
    Wide const product = static_cast<Wide>(*number) << shift;
    return product % denominator == 0 ? std::optional(static_cast<Bytes>(product / denominator)) : std::nullopt;
}

/// "K", "k", "KiB": 10. 0 of "" and "B". nullopt: none of these; KB might be 1000 bytes.
std::optional<std::size_t> shift_of_unit(std::string_view unit) {
    if (unit.empty() || unit == "B") {
        return 0;
    }
    constexpr std::string_view letters = "KMGkmg";
    std::size_t const letter = letters.find(unit.front());
    bool const known = letter != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "iB");
    return known ? std::optional(10 * (letter % 3 + 1)) : std::nullopt;
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view what) {
    std::size_t const digits = std::min(text.find_first_not_of("0123456789."), text.size());
    std::size_t const point = std::min(text.find('.'), digits);
    auto const shift = shift_of_unit(text.substr(digits));
    auto const number = parse_whole<Bytes>(text.substr(0, point));
    auto const fraction = point == digits ? std::optional<Bytes>(0)
                          : shift         ? whole_part_of_fraction(text.substr(point + 1, digits - point - 1), *shift)
                                          : std::nullopt;
    if (!shift || !number || !fraction) {
        throw UsageError(fmt::format("{} '{}': expected a whole number of bytes, with K, M or G (powers of 1024) where "
                                     "wanted, for example 64K, 64KiB or 0.5M",
                                     what, text));
    }
    if (*number > (std::numeric_limits<Bytes>::max() >> *shift)) {
        throw UsageError(fmt::format("{} '{}': above 2^64 bytes", what, text));
    }
    return (*number << *shift) + *fraction;
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
    return four_digits(nanoseconds / 1000);
}

}  // namespace dlmb

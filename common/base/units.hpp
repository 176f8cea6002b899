// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The integer types that carry a unit, and the strict reading and printing of numbers and sizes ("4M").
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dlmb {

using Bytes = std::uint64_t;
using Nanoseconds = std::int64_t;
inline constexpr double nanoseconds_per_microsecond = 1000;
using Rank = int;

/// The decimal number that is the whole text; nullopt: it is none, is not finite, or is beyond the type.
template <class Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] std::optional<Number> parse_whole(std::string_view text) {
    Number number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool whole = error == std::errc{} && end == text.data() + text.size();
    if constexpr (std::is_floating_point_v<Number>) {
        whole = whole && std::isfinite(number);  // "nan" and "inf" are read as well
    }
    return whole ? std::optional(number) : std::nullopt;
}

/// The parts between `separators`; each of its characters is one. Parts may be empty.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> parts;
    while (true) {
        auto const end = std::min(text.find_first_of(separators), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

/// The same without the empty parts.
[[nodiscard]] inline std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> parts = split(text, separators);
    std::erase(parts, std::string_view());
    return parts;
}

/// "10" of " 10 ": blanks and tabs are left out at both ends.
[[nodiscard]] inline std::string_view without_blanks_around(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    std::size_t const begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Reads "4096", "64K", "1M" or "2G" (powers of 1024). Anything else, "1MB" included, throws UsageError
/// whose text starts with `what` (the option's name) and says what to write instead.
[[nodiscard]] Bytes parse_bytes(std::string_view text, std::string_view what);

/// "64 K", "1.5 G" or "17 B": for human eyes, three significant digits, powers of 1024.
[[nodiscard]] std::string human_bytes(Bytes bytes);

/// Microseconds with three significant decimals: the unit of every human table.
[[nodiscard]] std::string human_us(double nanoseconds);

}  // namespace dlmb

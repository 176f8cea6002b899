// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Strict reading of numbers and of lists.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dlmb {

/// The decimal number that is the whole text; nullopt: it is none, or beyond the type.
template <class Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] std::optional<Number> parse_whole(std::string_view text) {
    Number number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// What stands between `separators`, of which each single character is one; parts may be empty.
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

}  // namespace dlmb

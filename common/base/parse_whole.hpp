// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace dlmb {

/// The decimal number that is the whole text; nullopt: it is none, or beyond the type.
template <std::integral Number>
[[nodiscard]] std::optional<Number> parse_whole(std::string_view text) {
    Number number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace dlmb

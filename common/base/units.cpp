// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/units.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <limits>

namespace dlmb {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
    throw UsageError(fmt::format("{} '{}': expected a number of bytes with K, M or G (powers of 1024), for example 64K",
                                 what, text));
}

int shift_of(std::string_view suffix, std::string_view text, std::string_view what) {
    if (suffix.empty()) {
        return 0;
    }
    if (suffix == "K") {
        return 10;
    }
    if (suffix == "M") {
        return 20;
    }
    if (suffix == "G") {
        return 30;
    }
    refuse(text, what);
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view what) {
    Bytes number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        refuse(text, what);
    }
    int const shift = shift_of(text.substr(static_cast<std::size_t>(end - text.data())), text, what);
    if (number > (std::numeric_limits<Bytes>::max() >> shift)) {
        throw UsageError(fmt::format("{} '{}': above 2^64 bytes", what, text));
    }
    return number << shift;
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

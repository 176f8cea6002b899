// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/whole_number.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <charconv>

namespace dlmb::tuning {

std::uint64_t whole_number(std::string_view text, std::string_view what) {
    std::uint64_t value = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) {
        throw UsageError(fmt::format("{} '{}' is no whole number", what, text));
    }
    return value;
}

}  // namespace dlmb::tuning

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/whole_number.hpp"

#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/core.h>

namespace dlmb::tuning {

std::uint64_t whole_number(std::string_view text, std::string_view what) {
    auto const number = parse_whole<std::uint64_t>(text);
    if (!number) {
        throw UsageError(fmt::format("{} '{}' is no whole number", what, text));
    }
    return *number;
}

}  // namespace dlmb::tuning

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Text in lower case.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace dlmb {

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return lower;
}

}  // namespace dlmb

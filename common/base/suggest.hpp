// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names near a mistyped one, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

/// Up to three known names, nearest first by edit distance.
[[nodiscard]] std::vector<std::string> nearest(std::string_view unknown, std::span<std::string const> known);

/// "unknown preset 'deepseek-v4'; nearest: deepseek-v3, deepseek-v2": the message of a UsageError.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view unknown,
                                       std::span<std::string const> known);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The line structure of a result file: where its last, unterminated line begins and whether it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace dlmb::record {

/// What follows the last newline of a file; empty text when the file ends in one.
struct LastLine {
    std::uint64_t begin = 0;
    std::string text;
};

/// Reads from the end: a result file of gigabytes costs no more than its last line.
[[nodiscard]] LastLine last_line(std::filesystem::path const& path);

/// A JSON object from its first to its last byte.
[[nodiscard]] bool is_whole_line(std::string_view text);

}  // namespace dlmb::record

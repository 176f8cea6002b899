// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/result_lines.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace dlmb::record {

LastLine last_line(std::filesystem::path const& path) {
    constexpr std::uint64_t chunk_bytes = 65536;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    LastLine last;
    last.begin = file ? static_cast<std::uint64_t>(file.tellg()) : 0;
    while (last.begin > 0) {
        std::uint64_t const bytes = std::min(chunk_bytes, last.begin);
        std::string chunk(bytes, '\0');
        file.seekg(static_cast<std::streamoff>(last.begin - bytes));
        file.read(chunk.data(), static_cast<std::streamsize>(bytes));
        std::size_t const newline = chunk.rfind('\n');
        std::size_t const kept = newline == std::string::npos ? 0 : newline + 1;
        last.text.insert(0, chunk, kept);
        last.begin -= bytes - kept;
        if (newline != std::string::npos) {
            break;
        }
    }
    return last;
}

bool is_whole_line(std::string_view text) {
    return nlohmann::json::parse(text.begin(), text.end(), nullptr, false).is_object();
}

}  // namespace dlmb::record

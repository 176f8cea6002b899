// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/input_file.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace dlmb {

std::string read_document(std::filesystem::path const& path, Bytes most) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 65536> piece{};
    while (file) {
        file.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > most) {
            throw UsageError(fmt::format("{}: larger than {} MiB", path.string(), most >> 20));
        }
    }
    if (!file.is_open() || file.bad()) {  // a folder opens, but cannot be read
        throw UsageError(fmt::format("{}: cannot be read", path.string()));
    }
    return text;
}

bool read_line(std::istream& file, std::string& line, Bytes most) {
    line.clear();
    auto* const buffer = file.rdbuf();
    constexpr auto end = std::char_traits<char>::eof();
    for (int next = file ? buffer->sbumpc() : end; next != end; next = buffer->sbumpc()) {
        if (next == '\n') {
            return true;
        }
        if (line.size() >= most) {
            throw UsageError(fmt::format("a line is longer than {} MiB", most >> 20));
        }
        line.push_back(static_cast<char>(next));
    }
    file.setstate(line.empty() ? std::ios::eofbit | std::ios::failbit : std::ios::eofbit);
    return !line.empty();
}

}  // namespace dlmb

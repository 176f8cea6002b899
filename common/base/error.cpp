// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace dlmb {
namespace {

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

/// Bytes of the printable character of UTF-8 that `text` begins with; 0: it begins with none.
std::size_t printable_bytes(std::string_view text) {
    auto const byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
    };
    unsigned const first = byte(0);
    if (first < 0x80) {
        return first >= ' ' && first != 0x7f ? 1 : 0;
    }
    std::size_t const bytes = first >> 5 == 0b110 ? 2 : first >> 4 == 0b1110 ? 3 : first >> 3 == 0b11110 ? 4 : 0;
    unsigned point = first & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if (byte(i) >> 6 != 0b10) {
            return 0;
        }
        point = point << 6 | (byte(i) & 0x3fU);
    }
    // Not C1 controls, not longer than need be, no halves of UTF-16, no end of a line.
    constexpr std::array<unsigned, 5> least{0, 0, 0xa0, 0x800, 0x10000};
    bool const allowed = point >= least.at(bytes) && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) &&
                         point != 0x2028 && point != 0x2029;
    return allowed ? bytes : 0;
}

}  // namespace

std::string one_line(std::string_view message) {
    constexpr std::size_t longest_begin = 600;
    constexpr std::size_t longest_end = 300;
    std::vector<std::string> shown;
    while (!message.empty()) {
        std::size_t const bytes = printable_bytes(message);
        shown.push_back(bytes > 0 ? std::string(message.substr(0, bytes))
                                  : fmt::format("\\x{:02x}", static_cast<unsigned char>(message.front())));
        message.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    if (shown.size() <= longest_begin + longest_end) {
        return fmt::format("{}", fmt::join(shown, ""));
    }
    auto const begin = shown.begin() + longest_begin;
    auto const end = shown.end() - longest_end;
    return fmt::format("{} ... ({} characters) ... {}", fmt::join(shown.begin(), begin, ""), end - begin,
                       fmt::join(end, shown.end(), ""));
}

Error::Error(std::string const& what, Where where)
    : std::runtime_error(fmt::format("{}\n  at {}:{} {}", what, where.file, where.line, where.function)),
      where_(where) {}

std::string unknown_name(std::string_view kind, std::string_view unknown, std::span<std::string const> known) {
    std::vector<std::string> names(known.begin(), known.end());
    // Names that the word abbreviates come first, from two letters on; dashes are no letters.
    auto const rank = [&](std::string const& name) {
        std::size_t const dashes = std::min(unknown.find_first_not_of('-'), unknown.size());
        bool const begins = unknown.size() >= dashes + 2 && name.starts_with(unknown);
        return std::pair(!begins, distance(unknown, name));
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](std::string const& a, std::string const& b) { return rank(a) < rank(b); });
    names.resize(std::min<std::size_t>(names.size(), 3));
    return names.empty() ? fmt::format("unknown {} '{}'; there is none", kind, unknown)
                         : fmt::format("unknown {} '{}'; nearest: {}", kind, unknown, fmt::join(names, ", "));
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include "common/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

Error::Error(std::string const& what, Where where)
    : std::runtime_error(fmt::format("{}\n  at {}:{} {}", what, where.file, where.line, where.function)),
      where_(where) {}

std::string unknown_name(std::string_view kind, std::string_view unknown, std::span<std::string const> known) {
    std::vector<std::string> names(known.begin(), known.end());
    std::stable_sort(names.begin(), names.end(), [&](std::string const& a, std::string const& b) {
        return distance(unknown, a) < distance(unknown, b);
    });
    names.resize(std::min<std::size_t>(names.size(), 3));
    return names.empty() ? fmt::format("unknown {} '{}'; there is none", kind, unknown)
                         : fmt::format("unknown {} '{}'; nearest: {}", kind, unknown, fmt::join(names, ", "));
}

}  // namespace dlmb

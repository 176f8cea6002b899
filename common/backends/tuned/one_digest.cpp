// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/one_digest.hpp"

#include "common/backends/tuned/gather.hpp"
#include "common/base/error.hpp"

#include <fmt/format.h>

#include <map>

namespace dlmb::tuned {

void require_one_digest(std::string const& digest, Bootstrap& bootstrap) {
    constexpr std::size_t most_named = 8;
    std::map<std::string, std::vector<Rank>> ranks_with;
    Rank rank = 0;
    for (std::vector<char> const& told : gather<char>(bootstrap, digest)) {
        ranks_with[{told.begin(), told.end()}].push_back(rank++);
    }
    if (ranks_with.size() == 1) {
        return;
    }
    std::string text;
    for (auto const& [each, ranks] : ranks_with) {
        std::size_t const named = std::min(ranks.size(), most_named);
        text += fmt::format("; {} on rank{} {}{}", each, ranks.size() == 1 ? "" : "s",
                            fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                            named < ranks.size() ? fmt::format(" and {} more", ranks.size() - named) : "");
    }
    throw UsageError(fmt::format("--use-table: the ranks read different tables (SHA-256{}); give every node the same "
                                 "file",
                                 text));
}

}  // namespace dlmb::tuned

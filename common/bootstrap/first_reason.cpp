// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/first_reason.hpp"

#include <span>

namespace dlmb {

std::string first_reason(Bootstrap& bootstrap, std::string const& mine) {
    std::int64_t first = mine.empty() ? bootstrap.size() : bootstrap.rank();
    bootstrap.all_reduce({&first, 1}, Fold::min);
    if (first == bootstrap.size()) {
        return "";
    }
    auto const bytes = std::as_bytes(std::span(mine));
    Blob blob(bytes.begin(), bytes.end());
    bootstrap.broadcast(blob, static_cast<Rank>(first));
    return {reinterpret_cast<char const*>(blob.data()), blob.size()};
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/over_ranks.hpp"

#include <span>

namespace dlmb {

std::string text_from_rank(Bootstrap& bootstrap, std::string const& mine, Rank root) {
    auto const bytes = std::as_bytes(std::span(mine));
    Blob blob(bytes.begin(), bytes.end());
    bootstrap.broadcast(blob, root);
    return {reinterpret_cast<char const*>(blob.data()), blob.size()};
}

std::string first_refusal(Bootstrap& bootstrap, std::string const& mine) {
    std::int64_t const first =
        reduce_over_ranks(bootstrap, mine.empty() ? bootstrap.size() : bootstrap.rank(), Fold::min);
    return first == bootstrap.size() ? std::string() : text_from_rank(bootstrap, mine, static_cast<Rank>(first));
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/over_ranks.hpp"

#include "common/base/processing_units.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
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

bool oversubscribed(Bootstrap& bootstrap) {
    // The leader of this rank's node, then a bit per processing unit that the rank may run on. No more words than the
    // machine needs, because every rank receives those of all.
    constexpr std::size_t bits = 64;
    std::vector<std::uint64_t> mine{static_cast<std::uint64_t>(bootstrap.node_leader())};
    for (int const each : usable_processing_units()) {
        auto const unit = static_cast<std::size_t>(each);
        mine.resize(std::max(mine.size(), unit / bits + 2));
        mine[unit / bits + 1] |= std::uint64_t{1} << unit % bits;
    }
    struct Node {
        int ranks = 0;
        std::vector<std::uint64_t> units;
    };
    std::map<std::uint64_t, Node> nodes;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(mine)))) {
        std::vector<std::uint64_t> told(blob.size() / sizeof(std::uint64_t));
        std::memcpy(told.data(), blob.data(), blob.size());
        Node& node = nodes[told.front()];
        ++node.ranks;
        node.units.resize(std::max(node.units.size(), told.size() - 1));
        std::transform(told.begin() + 1, told.end(), node.units.begin(), node.units.begin(), std::bit_or<>{});
    }
    return std::any_of(nodes.begin(), nodes.end(), [](auto const& each) {
        auto const& units = each.second.units;
        return each.second.ranks > std::transform_reduce(units.begin(), units.end(), 0, std::plus<>{},
                                                         [](std::uint64_t word) { return std::popcount(word); });
    });
}

bool should_yield(YieldPolicy policy, Bootstrap& bootstrap) {
    return policy == YieldPolicy::automatic ? oversubscribed(bootstrap) : policy == YieldPolicy::always;
}

}  // namespace dlmb

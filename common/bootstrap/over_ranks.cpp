// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <map>
#include <sched.h>
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
    struct Processors {
        Rank node_leader;
        cpu_set_t units;
    };
    Processors mine{bootstrap.node_leader(), {}};
    if (sched_getaffinity(0, sizeof mine.units, &mine.units) != 0) {
        CPU_SET(0, &mine.units);
    }
    struct Node {
        int ranks = 0;
        cpu_set_t units{};
    };
    std::map<Rank, Node> nodes;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        auto const told = value_in<Processors>(blob);
        Node& node = nodes[told.node_leader];
        ++node.ranks;
        CPU_OR(&node.units, &node.units, &told.units);
    }
    return std::any_of(nodes.begin(), nodes.end(),
                       [](auto const& each) { return each.second.ranks > CPU_COUNT(&each.second.units); });
}

bool should_yield(YieldPolicy policy, Bootstrap& bootstrap) {
    return policy == YieldPolicy::automatic ? oversubscribed(bootstrap) : policy == YieldPolicy::always;
}

}  // namespace dlmb

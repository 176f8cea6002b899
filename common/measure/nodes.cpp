// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/nodes.hpp"

#include <algorithm>

namespace dlmb::measure {

Nodes find_nodes(Bootstrap& bootstrap) {
    std::vector<std::int64_t> leads(static_cast<std::size_t>(bootstrap.size()), 0);
    leads[static_cast<std::size_t>(bootstrap.node_leader())] = 1;
    bootstrap.all_reduce(leads, Fold::max);
    Nodes nodes;
    for (Rank rank = 0; rank < bootstrap.size(); ++rank) {
        if (leads[static_cast<std::size_t>(rank)] == 1) {
            nodes.leaders.push_back(rank);
        }
    }
    auto const found = std::lower_bound(nodes.leaders.begin(), nodes.leaders.end(), bootstrap.node_leader());
    nodes.mine = static_cast<std::size_t>(found - nodes.leaders.begin());
    return nodes;
}

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/in_network.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

namespace dlmb::predict {

int reduction_tree_depth(Topology const& topology) {
    auto const wide = [](auto first, auto last) {
        return static_cast<int>(std::count_if(first, last, [](int extent) { return extent > 1; }));
    };
    switch (topology.kind) {
    case TopologyKind::fat_tree:
        return static_cast<int>(topology.shape.size());
    case TopologyKind::hyperx:
        return 1 + wide(topology.shape.begin() + 1, topology.shape.end());
    case TopologyKind::dragonfly: {
        // To the router of the group that has the link to the root's group, over it, and to the root.
        bool const routers = topology.shape[1] > 1;
        return 1 + (topology.shape[2] > 1 ? 1 + 2 * (routers ? 1 : 0) : (routers ? 1 : 0));
    }
    case TopologyKind::torus:
    case TopologyKind::hamming_mesh:
    case TopologyKind::tree:
        break;
    }
    throw UsageError(fmt::format(
        "topology '{}' has no switches that reduce; choose a fat-tree, dragonfly or hyperx, or --allreduce ring",
        topology.text()));
}

AllreduceCost in_network_allreduce(Topology const& topology, double bytes) {
    return {2.0 * reduction_tree_depth(topology), bytes, bytes};
}

AllreduceCost ring_allreduce(int nodes, double bytes) {
    double const moved = 2 * bytes * (nodes - 1) / nodes;
    return {2.0 * (nodes - 1), moved, moved};
}

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the nodes of a job are, and what the messages of a round load: nodes, links, and how far they go.
#pragma once

#include "common/predict/schedule.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

enum class TopologyKind : std::uint8_t {
    torus,  // of the shape of the job; ranks in row-major order; dimension-order routes
    tree,   // fat tree, dragonfly: placement unknown, so that a distance is that of the ranks' numbers
};

struct Topology {
    TopologyKind kind = TopologyKind::tree;
    std::vector<int> shape;  // torus: extents, the last one fastest; tree: the number of nodes
    int ranks_per_node = 1;  // consecutive ranks share a node

    [[nodiscard]] int nodes() const;
    [[nodiscard]] int ranks() const { return nodes() * ranks_per_node; }
    [[nodiscard]] std::string text() const;
    bool operator==(Topology const&) const = default;
};

/// "64" is a tree of 64 nodes, "4x4x4" a torus. Throws UsageError for anything else, for a count below 1, for one above
/// 2^20 and for more than 8 extents.
[[nodiscard]] Topology parse_topology(std::string_view nodes);

/// What one round costs in terms that a machine model prices. Shares are of the full vector.
struct RoundLoad {
    double times = 1;
    double messages = 0;  // sent or received by the busiest rank
    double largest = 0;   // share of the largest message
    double node = 0;      // share that the busiest node sends or receives over the network
    double in = 0;        // the same of what is received alone
    double link = 0;      // torus: share on the busiest link
    double far = 0;       // tree: share that a node sends on average, times log2 of the distance in nodes
    double hops = 0;      // torus: links of the longest way; tree: log2 of the largest distance in nodes, plus 1
    double inside = 0;    // share that the busiest rank exchanges inside its node
    double reduced = 0;
    double copied = 0;
};

[[nodiscard]] std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology);

}  // namespace dlmb::predict

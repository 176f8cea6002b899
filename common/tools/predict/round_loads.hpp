// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loads of the messages of a round, in the terms that a machine model prices: nodes, links, and how far they go.
#pragma once

#include "common/tools/predict/network/topology.hpp"
#include "common/tools/predict/schedule.hpp"

#include <vector>

namespace dlmb::predict {

/// Shares are of the full vector.
struct RoundLoad {
    double times = 1;
    double messages = 0;  // sent or received by the busiest rank
    double largest = 0;   // share of the largest message
    double node = 0;      // share that the busiest node sends or receives over the network
    double in = 0;        // the same of what is received alone
    double link = 0;      // torus: share on the busiest link
    double far = 0;       // tree: share that a node sends on average, times log2 of the distance in nodes
    double hops = 0;      // torus: links of the longest route; tree: log2 of the largest distance in nodes, plus 1
    double inside = 0;    // share that the busiest rank receives inside its node: the receiver copies
    double reduced = 0;
    double copied = 0;
};

/// The loads of rounds on a torus (ranks in row-major order; half a ring is gone upwards, and both ways where pairs
/// exchange) or a tree.
[[nodiscard]] std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology);

}  // namespace dlmb::predict

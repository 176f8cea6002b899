// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An allreduce that switches reduce (Flare: De Sensi et al. 2021, arXiv:2106.15565; SHARP and NVLS alike). Each node
// sends its Z bytes to its switch and receives the Z bytes of the result; a switch sends the sum of what is below it to
// the one above. Packets follow each other through the tree, so that the bytes are paid for once:
//
//     in the network   T = 2 depth L + Z G
//     ring             T = 2 (P - 1) (L + Z G / P)
//
// L: latency of a link, or of a step of the ring; G: time of a byte; depth: links from a node to the top of the tree.
#pragma once

#include "common/predict/network/topology.hpp"

#include <algorithm>

namespace dlmb::predict {

/// What an allreduce costs, in terms of L and G.
struct AllreduceCost {
    double latencies = 0;       // factor of L
    double sent_bytes = 0;      // by each node: factor of G
    double received_bytes = 0;  // by each node
    [[nodiscard]] double time(double latency, double time_per_byte) const {
        return latencies * latency + std::max(sent_bytes, received_bytes) * time_per_byte;
    }
};

/// Links from a node to the switch in which the whole sum is. Throws UsageError where nodes themselves are the
/// switches (torus, HammingMesh).
[[nodiscard]] int reduction_tree_depth(Topology const& topology);

[[nodiscard]] AllreduceCost in_network_allreduce(Topology const& topology, double bytes);
[[nodiscard]] AllreduceCost ring_allreduce(int nodes, double bytes);

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Topologies of one kind for any number of nodes, so that kinds can be compared over sizes.
#pragma once

#include "common/predict/network/topology.hpp"

#include <string_view>

namespace dlmb::predict {

/// What topology_of_family() reads, for help texts and errors.
inline constexpr std::string_view family_forms =
    "torus:2d, torus:3d, fat-tree, fat-tree,taper=0.5, dragonfly, hyperx:2d or hamming-mesh:2";

/// "torus:2d" (or 1d to 4d): extents as near to each other as the number allows. "fat-tree": leaf switches of up to 32
/// nodes, and one level above; adaptive. "dragonfly": balanced, 2 p routers of p nodes in a group. "hyperx:2d": as many
/// nodes at a router as routers in a dimension, or fewer. "hamming-mesh:A": boards of A x A, as many in a column as in
/// a row or nearly so. Options as of parse_topology() follow. A topology with its extents, as parse_topology() reads
/// it, is the family of that size. Throws UsageError where there is none of so many nodes.
[[nodiscard]] Topology topology_of_family(std::string_view family, int nodes);

}  // namespace dlmb::predict

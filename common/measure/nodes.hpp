// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The nodes of a launch.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cstddef>
#include <vector>

namespace dlmb::measure {

struct Nodes {
    std::vector<Rank> leaders;  // the first rank of each node, ascending
    std::size_t mine = 0;       // this rank's node among them
};
/// Collective.
[[nodiscard]] Nodes find_nodes(Bootstrap& bootstrap);

}  // namespace dlmb::measure

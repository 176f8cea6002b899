// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank runs where and on which GPU, what kind of machine each node is, and what of that a reader of the numbers
// should know: what makes them worse than they could be.
#pragma once

#include "common/measure/environment/capture.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::measure {

/// Facts about a node, from its first rank.
struct NodeFacts {
    std::string name;  // its host's; with the node's number where another node's host has the same
    std::map<std::string, std::string> identity;  // CPU model, sockets ...
    int units = 0;                                // processing units that it offers this launch
    Bytes largest_cache = 0;                      // 0: unknown
    std::string topology_source;
    std::string governor;  // what changes times, at the start of the launch (machine.hpp)
    double load = 0;
    int ranks = 0;  // counted by gather_placement
};

/// Facts about a rank, from itself.
struct RankFacts {
    record::RankPlace place;
    std::vector<int> units;
    std::vector<int> cores;
    std::string device_model;  // "NVIDIA H200, compute capability 9.0, 150109880320 B"; empty: it has no device
    std::optional<NodeFacts> node;
};

struct Placement {
    std::vector<RankFacts> ranks;
    std::vector<NodeFacts> nodes;  // as node_layout.hpp numbers them

    [[nodiscard]] NodeFacts const& node_of(RankFacts const& rank) const {
        return nodes.at(static_cast<std::size_t>(rank.place.node.value_or(0)));
    }
};

/// Collective, equal on all ranks.
[[nodiscard]] Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device);

/// Models with the number of devices that the launch uses on each node, a device that several ranks share counted once:
/// "MODEL, 8 per node", several models joined with "; ". Empty when no rank has one.
[[nodiscard]] std::string gpus_in_use(std::vector<RankFacts> const& ranks);

/// "4" where all counts are equal, else "3..4".
[[nodiscard]] std::string range_text(std::vector<std::size_t> const& counts);

/// Unbound ranks, more ranks than processing units, bound ranks on threads of one core, nodes that are not like rank
/// 0's, a clock that changes, other work, host names that do not tell nodes apart. Empty where nothing is wrong, as the
/// next.
[[nodiscard]] std::vector<std::string> placement_warnings(Placement const& placement);

/// Ranks that run far from their device, and devices that are a test double.
[[nodiscard]] std::vector<std::string> device_warnings(record::Environment const& environment);

}  // namespace dlmb::measure

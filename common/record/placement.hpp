// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank runs where, and what kind of machine each node is.
#pragma once

#include "common/record/environment.hpp"
#include "common/record/node_conditions.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::record {

struct Placement {
    std::vector<RankPlace> ranks;
    std::map<std::string, int> ranks_on;                              // by host
    std::map<std::string, int> units;                                 // by host: processing units it offers this launch
    std::map<std::string, std::map<std::string, std::string>> nodes;  // by host: CPU model, sockets ...
    std::map<std::string, NodeConditions> conditions;                 // by host
    std::vector<CoreUse> core_use;                                    // by rank
    std::vector<std::string> device_models;  // by rank, device_model(); empty where a rank has no device
    std::string topology_source;
    Bytes largest_cache = 0;  // of any node; 0: unknown
};

/// Collective, equal on all ranks.
[[nodiscard]] Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device);

/// Nodes that are not like rank 0's.
[[nodiscard]] std::vector<std::string> node_warnings(Placement const& placement);

}  // namespace dlmb::record

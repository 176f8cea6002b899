// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank runs where and on which GPU, and what kind of machine each node is.
#pragma once

#include "common/record/environment.hpp"
#include "common/record/machine.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::record {

/// One rank as far as sharing cores matters.
struct CoreUse {
    std::string host;
    bool bound = false;
    std::vector<int> units;
    std::vector<int> cores;
};

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

/// One device model for the identity: "NVIDIA H200, compute capability 9.0, 150109880320 B".
[[nodiscard]] std::string device_model(Device const& device);

/// Models with the number of devices that the launch uses on each node, a device that several ranks share counted once:
/// "MODEL, 8 per node", several models joined with "; ". `model_of_rank` is empty where a rank has no device. Empty
/// when no rank has one.
[[nodiscard]] std::string gpus_in_use(std::vector<RankPlace> const& ranks,
                                      std::vector<std::string> const& model_of_rank);

}  // namespace dlmb::record

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options that give a simulation a network whose messages share links.
#pragma once

#include "common/base/command_line/subcommands.hpp"
#include "common/tools/predict/network/link_network.hpp"
#include "common/tools/predict/simulator/machine.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace dlmb::predict::commands {

/// A network and the links that it is made of.
class SharedLinks {
public:
    SharedLinks(dlmb::predict::Topology topology, dlmb::predict::Placement placement, std::uint64_t seed, int ranks,
                int ranks_per_node, dlmb::predict::LinkCosts const& costs);

    [[nodiscard]] dlmb::predict::Network& network() { return network_; }
    /// What the links carried until the simulation ended at `time`.
    [[nodiscard]] nlohmann::ordered_json to_json(dlmb::predict::Picoseconds time) const;
    [[nodiscard]] std::string to_text(dlmb::predict::Picoseconds time) const;

private:
    dlmb::predict::Topology topology_;
    std::unique_ptr<dlmb::predict::Interconnect> interconnect_;
    double bytes_per_ps_;
    dlmb::predict::LinkNetwork network_;
};

class NetworkOptions {
public:
    void add(CLI::App& parser);
    /// nullptr: contention model none. A node injects what G of the farthest level and largest messages says. Throws
    /// UsageError where the topology has too few nodes, or bytes take no time.
    [[nodiscard]] std::unique_ptr<SharedLinks> make(dlmb::predict::Machine const& machine, int ranks) const;

private:
    std::string contention_;
    std::string topology_;
    std::string placement_ = "row-major";
    std::uint64_t seed_ = 1;
    double hop_ns_ = 0;
    double tolerance_ = 0;
};

}  // namespace dlmb::predict::commands

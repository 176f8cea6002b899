// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options that give a pattern a network: messages share its links, or bound the time.
#pragma once

#include "common/base/command_line/subcommands.hpp"
#include "common/tools/predict/network/link_network.hpp"
#include "common/tools/predict/placed_bound.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace dlmb::predict::commands {

/// A network and the links that it is made of.
class SharedLinks {
public:
    SharedLinks(Topology const& topology, Placement placement, std::uint64_t seed, int ranks, int ranks_per_node,
                LinkCosts const& costs);

    [[nodiscard]] LinkNetwork& network() { return network_; }
    /// The bytes that the links carried until the simulation ended at `time`.
    [[nodiscard]] nlohmann::ordered_json to_json(Picoseconds time) const;
    [[nodiscard]] std::string to_text(Picoseconds time) const;
    /// By these algorithms.
    [[nodiscard]] Bound bound(PlanSource const& plans, LoweringChoice const& choice, Machine const& machine) const;
    /// Bound of `bytes` that each node sends in equal parts to all others.
    [[nodiscard]] Bound uniform_bound(Bytes bytes, Machine const& machine) const;
    [[nodiscard]] nlohmann::ordered_json to_json(Bound const& bound) const;
    [[nodiscard]] std::string to_text(Bound const& bound) const;

private:
    std::unique_ptr<Interconnect> interconnect_;
    std::vector<int> nodes_;  // of each rank
    double bytes_per_ps_;
    LinkNetwork network_;
};

class NetworkOptions {
public:
    void add(CLI::App& parser);
    /// nullptr: only NICs are shared. A node injects what G of messages between nodes says. `ranks` 0: one for each
    /// node. Throws UsageError where the topology has too few nodes, or bytes take no time.
    [[nodiscard]] std::unique_ptr<SharedLinks> make(Machine const& machine, int ranks) const;

private:
    std::string topology_;
    std::string placement_ = "row-major";
    std::uint64_t seed_ = 1;
    double hop_ns_ = 0;
    double tolerance_ = 1e-4;
};
}  // namespace dlmb::predict::commands

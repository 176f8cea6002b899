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
    SharedLinks(dlmb::predict::Topology topology, dlmb::predict::Placement placement, std::uint64_t seed, int ranks,
                int ranks_per_node, dlmb::predict::LinkCosts const& costs);

    [[nodiscard]] dlmb::predict::LinkNetwork& network() { return network_; }
    /// What the links carried until the simulation ended at `time`.
    [[nodiscard]] nlohmann::ordered_json to_json(dlmb::predict::Picoseconds time) const;
    [[nodiscard]] std::string to_text(dlmb::predict::Picoseconds time) const;
    /// By these algorithms.
    [[nodiscard]] dlmb::predict::PlacedBound bound(PlanSource const& plans, dlmb::predict::LoweringChoice const& choice,
                                                   dlmb::predict::Machine const& machine) const;
    /// Bound of `bytes` that each node sends in equal parts to all others.
    [[nodiscard]] dlmb::predict::PlacedBound uniform_bound(Bytes bytes, dlmb::predict::Machine const& machine) const;
    [[nodiscard]] nlohmann::ordered_json to_json(dlmb::predict::PlacedBound const& placed) const;

private:
    dlmb::predict::Topology topology_;
    std::unique_ptr<dlmb::predict::Interconnect> interconnect_;
    std::vector<int> nodes_;  // of each rank
    double bytes_per_ps_;
    dlmb::predict::LinkNetwork network_;
};

class NetworkOptions {
public:
    void add(CLI::App& parser);
    /// nullptr: only NICs are shared. A node injects what G of messages between nodes says. `ranks` 0: one for each
    /// node. Throws UsageError where the topology has too few nodes, or bytes take no time.
    [[nodiscard]] std::unique_ptr<SharedLinks> make(dlmb::predict::Machine const& machine, int ranks) const;

private:
    std::string topology_;
    std::string placement_ = "row-major";
    std::uint64_t seed_ = 1;
    double hop_ns_ = 0;
    double tolerance_ = 1e-4;
};

/// The lines that to_json() of a bound says for people.
[[nodiscard]] std::string bound_text(nlohmann::ordered_json const& bound);

}  // namespace dlmb::predict::commands

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the traffic of plans costs on a topology, as a bound (network/link_loads.hpp): all that an iteration sends, link
// by link, and its longest chain of latencies. The messages are those that the simulator runs, so that no simulation of
// the same plans and algorithms is below the bound. Computations take no time here.
#pragma once

#include "common/formats/plan/plan_source.hpp"
#include "common/tools/predict/network/link_loads.hpp"
#include "common/tools/predict/simulator/lower.hpp"

#include <memory>
#include <vector>

namespace dlmb::predict {

/// Who adds: ranks by the messages of an algorithm, or switches where the topology has them.
enum class AllreduceBy : std::uint8_t { messages, in_network };

struct NetworkCosts {
    double bytes_per_ps = 0.05;  // that a node injects, and receives
    double latency_ps = 0;       // of a message over one link
    double hop_ps = 0;           // of each link beyond the first
};

/// Traffic of a world on one topology.
class PlacedTraffic {
public:
    /// `nodes`: of each rank.
    PlacedTraffic(Topology topology, std::vector<int> nodes, NetworkCosts const& costs, AllreduceBy allreduce);

    /// What all ranks do, by these algorithms.
    void add(PlanSource const& plans, LoweringChoice const& choice);
    /// Every node sends `bytes` in equal parts to all others.
    void add_uniform(double bytes);

    [[nodiscard]] Topology const& topology() const { return topology_; }
    [[nodiscard]] Interconnect const& interconnect() const { return *interconnect_; }
    [[nodiscard]] LinkLoads const& loads() const { return loads_; }
    [[nodiscard]] AllreduceBy allreduce() const { return allreduce_; }
    [[nodiscard]] Bound bound() const;

private:
    [[nodiscard]] int node_of(Rank rank) const { return nodes_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] Plan without_computation(Plan plan) const;
    void reduce_in_switches(Group const& group, double bytes);

    Topology topology_;
    std::unique_ptr<Interconnect> interconnect_;
    std::vector<int> nodes_;
    NetworkCosts costs_;
    AllreduceBy allreduce_;
    LinkLoads loads_;
    double latency_ps_ = 0;
};

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the traffic of plans costs on a topology, as a bound (network/link_loads.hpp): all that an iteration sends, link
// by link, and the longest chain of latencies of a rank. Computations take no time here.
#pragma once

#include "common/plan/plan.hpp"
#include "common/predict/network/link_loads.hpp"

#include <memory>
#include <vector>

namespace dlmb::predict {

/// How allreduces are done; `in_network` where the topology has switches, else by a ring.
enum class AllreduceBy : std::uint8_t { ring, in_network };

struct NetworkCosts {
    double bytes_per_ps = 0.05;  // that a node injects, and receives
    double latency_ps = 0;       // of a message over one link
    double hop_ps = 0;           // of each link beyond the first
};

/// Traffic of a world on one topology. Collectives other than allreduce: allgather and reduce_scatter by a ring,
/// broadcast and reduce by a chain, gather and scatter directly.
class PlacedTraffic {
public:
    /// `nodes`: of each rank.
    PlacedTraffic(Topology topology, std::vector<int> nodes, NetworkCosts const& costs, AllreduceBy allreduce);

    /// What one rank does. Plans of all ranks together are the traffic.
    void add(Plan const& plan);
    /// Every node sends `bytes` in equal parts to all others.
    void add_uniform(double bytes);

    [[nodiscard]] Topology const& topology() const { return topology_; }
    [[nodiscard]] Interconnect const& interconnect() const { return *interconnect_; }
    [[nodiscard]] LinkLoads const& loads() const { return loads_; }
    [[nodiscard]] AllreduceBy allreduce() const { return allreduce_; }
    [[nodiscard]] Bound bound() const;

private:
    [[nodiscard]] int node_of(Rank rank) const { return nodes_.at(static_cast<std::size_t>(rank)); }
    double send(Rank from, Rank to, double bytes);
    [[nodiscard]] double latency(Rank from, Rank to) const;
    double latency_of_step(Plan const& plan, Operation const& operation);
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

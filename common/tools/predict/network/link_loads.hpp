// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The load of traffic on each link, the share of their injection bandwidth that nodes get with it, and the contention
// model `bound`: no events. Traffic takes at least as long as the busiest node needs to send or receive, the busiest
// link to carry, and the longest chain of latencies to pass. Never above `links`.
#pragma once

#include "common/tools/predict/network/interconnect.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

/// Load: bytes over capacity, in bytes that a node could inject meanwhile.
class LinkLoads {
public:
    explicit LinkLoads(Interconnect const& interconnect);

    /// From node to node. Bytes to oneself load nothing.
    void add(int from, int to, double bytes);
    /// Bytes of one link alone.
    void add(LinkId link, double bytes) { bytes_[link] += bytes; }

    [[nodiscard]] Interconnect const& interconnect() const { return *interconnect_; }
    [[nodiscard]] double bytes(LinkId link) const { return bytes_[link]; }
    [[nodiscard]] double load(LinkId link) const;
    /// The one of the largest load, of several the first one; inner links stand behind those of nodes. Ties within
    /// 1e-9 are ties.
    [[nodiscard]] LinkId busiest() const;
    [[nodiscard]] double largest() const { return load(busiest()); }
    /// Over all links that exist.
    [[nodiscard]] double mean() const;
    /// The most that a node sends or receives.
    [[nodiscard]] double busiest_node() const;
    /// The share of its injection bandwidth that the busiest node gets while the busiest link is busy all the time; 1:
    /// links between nodes limit nothing. 1 without traffic.
    [[nodiscard]] double share() const;

private:
    Interconnect const* interconnect_;
    std::vector<double> bytes_;
    std::vector<LinkId> route_;
};

/// Every node sends `bytes` to every other one. Counts the routes from the representatives of the symmetry, which gives
/// the same as all routes (a test shows it).
[[nodiscard]] LinkLoads uniform_loads(Interconnect const& interconnect, double bytes);

struct Bound {
    double node_ps = 0;        // of the busiest node
    double link_ps = 0;        // of the busiest link, those of nodes included
    double latency_ps = 0;     // of the longest chain
    double share = 1;          // LinkLoads::share()
    double mean_load = 0;      // of links, over that of the busiest one
    std::string busiest_link;  // its name; empty without traffic
    [[nodiscard]] double time_ps() const;
    /// "injection", "links" or "latency".
    [[nodiscard]] std::string_view limit() const;
};

/// Throws nothing; `latency_ps` is the caller's, who knows what waits for what.
[[nodiscard]] Bound bound_of(LinkLoads const& loads, double latency_ps, double bytes_per_ps);

}  // namespace dlmb::predict

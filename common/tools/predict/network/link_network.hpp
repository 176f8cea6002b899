// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The contention model `links`: messages under way share the links of an interconnect by max-min fairness (Bertsekas
// and Gallager 1992): no message can get more without taking from one that has no more. Rates are computed when
// messages begin or end; what begins or ends at one time is one change. Only rates can change that are not below those
// of the messages that begin or end: rates rise together until a link is full, and up to there nothing is different.
// With a tolerance, what begins or ends within this share of the time that those messages take is one change, too: then
// bandwidth is idle for that long after a message ended, and one that begins waits for that long.
#pragma once

#include "common/base/units.hpp"
#include "common/tools/predict/network/link_loads.hpp"
#include "common/tools/predict/picoseconds.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace dlmb::predict {

/// The cost of the links of an interconnect.
struct LinkCosts {
    double bytes_per_ps = 0.05;   // that a node injects; 0.001 is 1 GB/s
    Picoseconds hop_latency = 0;  // of a link beyond those of the shortest route, which are in L
    double tolerance = 0;         // of the time that a message takes; 0: rates are always up to date
};

/// A message, by the number that the simulator gave it; numbers of messages that are over are used again.
using FlowId = std::uint32_t;

/// The simulator calls start() when a send has used its o, then next_event(), and at that time end_next(), whose last
/// byte is at the receiver L later. Times never go back from call to call.
class LinkNetwork {
public:
    /// `nodes`: of each rank (nodes_of_ranks). The interconnect must stay.
    LinkNetwork(Interconnect const& interconnect, std::vector<int> nodes, LinkCosts const& costs);

    /// From now on `bytes` (at least 1) flow from one rank to another, which sits on another node.
    void start(FlowId flow, Rank from, Rank to, Bytes bytes, Picoseconds now);
    /// When the first message ends as things stand, at least 1 ps after a start, or when rates are to be computed, if
    /// that is earlier; `never`: nothing is under way.
    [[nodiscard]] Picoseconds next_event();
    /// Takes out the message that ends now; of several the one that started first. Nothing: no other one ends now.
    std::optional<FlowId> end_next(Picoseconds now);
    /// Latency of the links beyond those of the shortest route, which comes on top of L.
    [[nodiscard]] Picoseconds extra_latency(Rank from, Rank to) const;

    /// The loads by all messages that were started.
    [[nodiscard]] LinkLoads const& loads() const { return loads_; }
    /// How often rates were computed.
    [[nodiscard]] std::uint64_t updates() const { return updates_; }

private:
    struct Flow {
        std::vector<LinkId> route;
        double left = 0;        // bytes at `since`
        Picoseconds since = 0;  // when its rate changed
        Picoseconds begin = 0;
        Picoseconds end = never;     // at this rate
        std::uint64_t sequence = 0;  // of the start
        bool over = false;
        bool listed = false;  // in active_, where those that are over stay until rates are computed
    };
    struct End {
        Picoseconds time = 0;
        std::uint64_t sequence = 0;
        FlowId flow = 0;  // that has ended, or ends at another time, where `time` is not its end
        bool operator>(End const& other) const {
            return time != other.time ? time > other.time : sequence > other.sequence;
        }
    };

    void settle();
    void fill();
    void take_out(double least);
    void list_flows_of_links();
    void list_ends();
    void settle_within(double picoseconds);
    void drop_old_ends();

    Interconnect const& interconnect_;
    std::vector<int> nodes_;
    LinkCosts costs_;
    LinkLoads loads_;
    std::size_t shortest_ = std::numeric_limits<std::size_t>::max();  // links of the shortest route, if hops cost
    Picoseconds now_ = 0;
    std::uint64_t sequence_ = 0;
    std::uint64_t updates_ = 0;
    Picoseconds settle_at_ = never;  // at the latest, of what changed; never: nothing did
    std::vector<Flow> flows_;
    std::vector<double> rates_;                                      // of flows; 0: not computed yet
    double lowest_ended_ = std::numeric_limits<double>::infinity();  // rate, since rates were computed
    std::vector<FlowId> active_;
    std::vector<FlowId> begun_;     // since rates were computed
    std::vector<FlowId> changing_;  // flows whose rates are computed anew
    std::vector<End> ends_;         // a heap

    struct Link {
        double capacity = 0;        // bytes per ps
        double left = 0;            // of it
        std::uint32_t active = 0;   // flows that cross it
        std::uint32_t flows = 0;    // of those that change, without a rate yet
        std::uint32_t first = 0;    // of those that change, in flows_of_links_
        std::uint32_t crossed = 0;  // by so many that change
    };
    std::vector<Link> links_;
    std::vector<LinkId> touched_;  // links that flows cross which change
    std::vector<FlowId> flows_of_links_;
};

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The contention model `links`: messages under way share the links of an interconnect by max-min fairness. Rates are
// computed when messages begin or end; what begins or ends at one time is one change. With a tolerance, so is what
// begins or ends within this share of the time that those messages take: then bandwidth is idle for that long after a
// message ended, and one that begins waits for that long.
#pragma once

#include "common/tools/predict/network/fair_sharing.hpp"
#include "common/tools/predict/network/link_loads.hpp"
#include "common/tools/predict/simulator/network.hpp"

#include <vector>

namespace dlmb::predict {

/// What the links of an interconnect cost.
struct LinkCosts {
    double bytes_per_ps = 0.05;   // that a node injects; 0.001 is 1 GB/s
    Picoseconds hop_latency = 0;  // of a link beyond the first
    double tolerance = 0;         // of the time that a message takes; 0: rates are always up to date
};

class LinkNetwork : public Network {
public:
    /// `nodes`: of each rank (nodes_of_ranks). The interconnect must stay.
    LinkNetwork(Interconnect const& interconnect, std::vector<int> nodes, LinkCosts const& costs);

    void start(FlowId flow, Rank from, Rank to, Bytes bytes, Picoseconds now) override;
    [[nodiscard]] Picoseconds next_event() const override;
    std::optional<FlowId> end_next(Picoseconds now) override;
    [[nodiscard]] Picoseconds extra_latency(Rank from, Rank to) const override;

    /// Of all messages that were started.
    [[nodiscard]] LinkLoads const& loads() const { return loads_; }
    /// How often rates were computed.
    [[nodiscard]] std::uint64_t updates() const { return updates_; }

private:
    struct State {  // of a message
        LinkId bottleneck = FairSharing::no_link;
        double until = 0;  // over when each message of the bottleneck has got so much; without one: bytes that are left
        Picoseconds begin = 0;
        std::uint64_t sequence = 0;  // of the start
        std::uint32_t version = 0;   // of what is waited for
    };
    struct Waiting {
        double until = 0;
        std::uint64_t sequence = 0;
        FlowId flow = 0;
        std::uint32_t version = 0;
        bool operator>(Waiting const& other) const {
            return until != other.until ? until > other.until : sequence > other.sequence;
        }
    };
    /// The messages that have one bottleneck get the same rate, so that the first of them is known without a look at
    /// the others.
    struct Service {
        double served = 0;  // bytes that each of them has got at `since`, and more before it came
        double rate = 0;
        Picoseconds since = 0;
        std::uint32_t version = 0;     // of the end that is expected
        std::vector<Waiting> waiting;  // a heap; old versions are no longer waited for
    };
    struct End {  // of the first message of a bottleneck
        Picoseconds time = 0;
        std::uint64_t sequence = 0;
        LinkId bottleneck = 0;
        std::uint32_t version = 0;
        bool operator>(End const& other) const {
            return time != other.time ? time > other.time : sequence > other.sequence;
        }
    };

    void drop_stale() const;
    void drop_stale(Service& service) const;
    static Picoseconds end_of(Waiting const& first, Service const& service);
    void expect_end(LinkId bottleneck) const;
    void move(FlowId flow) const;
    void settle() const;
    void settle_within(double picoseconds) const;
    void take_out_ended();

    Interconnect const& interconnect_;
    std::vector<int> nodes_;
    LinkCosts costs_;
    LinkLoads loads_;
    Picoseconds now_ = 0;
    std::uint64_t sequence_ = 0;
    std::vector<RouteLink> route_;
    std::vector<FlowId> ended_;  // now, the one that started first behind the others
    // Rates are brought up to date when the next end is asked for.
    mutable FairSharing sharing_;
    mutable std::vector<State> states_;
    mutable std::vector<Service> services_;  // by bottleneck
    mutable std::vector<End> ends_;          // a heap; old versions are no longer expected
    mutable bool changed_ = false;
    mutable Picoseconds settle_at_ = never;  // at the latest, of what changed
    mutable double mean_duration_ = 0;       // of the messages that end first at the bottlenecks that changed last
    mutable std::uint64_t updates_ = 0;
};

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Max-min fair rates of flows that share links (Bertsekas and Gallager 1992): no flow can get more without taking from
// one that has no more. Each flow has a bottleneck: a link that is full and on which no flow is faster. All flows of
// one bottleneck have one rate, so that rates are kept by bottleneck, with what its flows together take of each link.
// When flows come and go, only those bottlenecks are computed again that no longer are one, whole and not flow by flow.
#pragma once

#include "common/tools/predict/network/interconnect.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::predict {

class FairSharing {
public:
    using Flow = std::uint32_t;
    static constexpr LinkId no_link = ~LinkId{0};

    struct Changes {
        std::vector<LinkId> bottlenecks;  // whose rate may have changed, or which lost or got flows by a move
        std::vector<Flow> moved;          // to another bottleneck, the new flows included; a flow may be named twice
    };

    /// Capacities of links, in the unit of rates.
    explicit FairSharing(std::vector<double> const& capacities);

    /// The numbers of flows are small, for they are places in a vector. The route has a link of capacity above 0 at
    /// least, and a link once; of a link it takes its share of the flow's rate.
    void add(Flow flow, std::vector<RouteLink> const& route);
    void remove(Flow flow);
    /// Brings the rates up to date. Flows that are not named keep their bottleneck.
    Changes const& update();

    // As of the last update(); a flow that was added since has no bottleneck and no rate.
    [[nodiscard]] LinkId bottleneck(Flow flow) const { return flows_[flow].bottleneck; }
    [[nodiscard]] double rate(Flow flow) const {
        return bottleneck(flow) == no_link ? 0 : rate_of_bottleneck(bottleneck(flow));
    }
    [[nodiscard]] double rate_of_bottleneck(LinkId link) const { return links_[link].rate; }
    /// Flows whose bottleneck the link is.
    [[nodiscard]] std::size_t flows_of_bottleneck(LinkId link) const { return links_[link].members.size(); }

private:
    enum class Status : std::uint8_t { absent, added, present };
    struct FlowState {
        std::vector<RouteLink> route;
        LinkId bottleneck = no_link;
        std::uint32_t place = 0;  // in the members of the bottleneck
        Status status = Status::absent;
    };
    /// What the flows of a bottleneck take of a link.
    struct Crossing {
        LinkId link = 0;
        std::uint32_t flows = 0;
        double weight = 0;  // their shares
    };
    /// A link, and the flows whose bottleneck it is. These are open while they are being given a rate, else settled.
    struct LinkState {
        double capacity = 0;
        double settled = 0;  // of the capacity: what settled flows take
        double rate = 0;     // of the members
        // Of all flows that cross it.
        double all_weight = 0;
        std::uint32_t all_flows = 0;
        // Of open flows that cross it.
        double open_weight = 0;
        std::uint32_t open_flows = 0;
        // The same of those that are not frozen yet, and what the others leave, while the links are filled.
        std::uint32_t unfrozen = 0;
        double weight = 0;
        double left = 0;
        bool open = false;    // the members are
        bool frozen = false;  // the members have been given their rate
        bool full = false;    // all open flows that cross it have
        bool touched = false;
        bool changed = false;
        std::vector<Flow> members;
        std::vector<Crossing> crossed;     // links that the members cross, by their numbers
        std::vector<LinkId> crossed_from;  // bottlenecks whose members cross this link, by their numbers
        std::vector<Flow> added;           // open flows without a bottleneck that cross it
        [[nodiscard]] bool is_settled() const { return !open && !members.empty(); }
    };
    struct Level {  // of a link: what each of its open flows would get
        double rate = 0;
        LinkId link = 0;
        bool operator>(Level const& other) const { return rate != other.rate ? rate > other.rate : link > other.link; }
    };

    static std::vector<Crossing>::iterator place_of(LinkId link, std::vector<Crossing>& crossed);
    void change(LinkId link);
    void touch(LinkId link);
    void join(Flow flow, LinkId bottleneck);
    void leave(Flow flow);
    void open_added(Flow flow);
    void open(LinkId bottleneck);
    void open_changed();
    void open_all();
    bool fill();
    bool freeze(LinkId at, double rate);
    bool open_while_filling(LinkId bottleneck, double level);
    void freeze_members(LinkId bottleneck, double rate);
    void take(Flow flow, LinkId at, double rate);
    bool open_violated();
    bool open_violated_by(LinkId bottleneck);
    void settle();

    std::size_t present_ = 0;  // flows, of which those that were added since the last update are none
    std::vector<FlowState> flows_;
    std::vector<LinkState> links_;
    std::vector<LinkId> changed_;  // since the last update
    std::vector<Flow> added_;
    // Of an update.
    Changes changes_;                   // the bottlenecks that are open, until it ends
    std::vector<LinkId> joined_;        // settled bottlenecks that open flows joined
    std::vector<LinkId> touched_;       // links of open flows
    std::vector<Level> levels_;         // a heap
    std::vector<LinkId> crossed_from_;  // of the link that is being frozen
    bool all_open_ = false;
    std::size_t open_ = 0;      // flows
    std::size_t unfrozen_ = 0;  // of those
};

}  // namespace dlmb::predict

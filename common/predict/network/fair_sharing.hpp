// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Max-min fair rates of flows that share links (Bertsekas and Gallager 1992): no flow can get more without taking from
// one that has no more. Each flow has a bottleneck: a link that is full and on which no flow is faster. When flows come
// and go, only those are computed again whose bottleneck no longer is one; the others keep their rates.
#pragma once

#include "common/predict/network/interconnect.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::predict {

class FairSharing {
public:
    using Flow = std::uint32_t;

    /// Capacities of links, in the unit of rates.
    explicit FairSharing(std::vector<double> capacities);

    /// The numbers of flows are small, for they are places in a vector. The route has a link of capacity above 0 at
    /// least; of a link it takes its share of the flow's rate.
    void add(Flow flow, std::vector<RouteLink> const& route);
    void remove(Flow flow);
    /// Brings the rates up to date. Returns the flows whose rate may have changed, the new ones included.
    std::vector<Flow> const& update();
    /// As of the last update().
    [[nodiscard]] double rate(Flow flow) const { return rates_[flow]; }

private:
    static constexpr LinkId no_link = ~LinkId{0};

    struct Use {  // of a link by a flow
        Flow flow = 0;
        std::uint32_t at = 0;  // in the flow's route
        double share = 1;
    };
    enum class Status : std::uint8_t {
        absent,
        settled,  // has its rate
        open,     // is being given one
        frozen,   // has been given one
    };
    struct FlowRoute {
        std::vector<RouteLink> links;
        std::vector<std::uint32_t> places;  // in the uses of each link
    };
    struct LinkState {
        double capacity = 0;
        double used = 0;  // by all flows
        std::vector<Use> uses;
        double left = 0;    // of the capacity, while rates are computed
        double weight = 0;  // shares of the open flows
        int open = 0;       // flows of those
        bool touched = false;
        bool changed = false;
    };
    struct Level {  // of a link: what each of its open flows would get
        double rate = 0;
        LinkId link = 0;
        bool operator>(Level const& other) const { return rate != other.rate ? rate > other.rate : link > other.link; }
    };

    void open_flow(Flow flow);
    void change(LinkId link);
    void fill();
    /// Returns the number of flows.
    std::size_t freeze(LinkId link, double rate);
    bool open_violated();

    // By flow. What is read most is close together.
    std::vector<FlowRoute> routes_;
    std::vector<double> rates_;
    std::vector<LinkId> bottlenecks_;
    std::vector<Status> status_;

    std::vector<LinkState> links_;
    std::vector<LinkId> changed_;  // since the last update
    std::vector<Flow> added_;
    std::vector<Flow> opened_;
    std::vector<LinkId> touched_;  // links of open flows
    std::vector<Level> levels_;    // a heap
};

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/fair_sharing.hpp"

#include <algorithm>
#include <functional>

namespace dlmb::predict {
namespace {

/// Rates that differ by less are equal: sums of some hundred shares in another order.
constexpr double close = 1e-9;

}  // namespace

FairSharing::FairSharing(std::vector<double> capacities) : links_(capacities.size()) {
    for (std::size_t link = 0; link < links_.size(); ++link) {
        links_[link].capacity = capacities[link];
    }
}

void FairSharing::change(LinkId link) {
    if (!links_[link].changed) {
        links_[link].changed = true;
        changed_.push_back(link);
    }
}

void FairSharing::add(Flow flow, std::vector<RouteLink> const& route) {
    if (flow >= routes_.size()) {
        routes_.resize(flow + 1);
        rates_.resize(flow + 1);
        bottlenecks_.resize(flow + 1);
        status_.resize(flow + 1);
    }
    FlowRoute& own = routes_[flow];
    own.links = route;
    own.places.clear();
    rates_[flow] = 0;
    bottlenecks_[flow] = no_link;
    status_[flow] = Status::settled;
    for (std::uint32_t at = 0; at < route.size(); ++at) {
        LinkState& link = links_[route[at].link];
        own.places.push_back(static_cast<std::uint32_t>(link.uses.size()));
        link.uses.push_back({flow, at, route[at].share});
        change(route[at].link);
    }
    added_.push_back(flow);
}

void FairSharing::remove(Flow flow) {
    FlowRoute const& route = routes_[flow];
    for (std::size_t at = 0; at < route.links.size(); ++at) {
        LinkState& link = links_[route.links[at].link];
        std::uint32_t const place = route.places[at];
        link.uses[place] = link.uses.back();
        routes_[link.uses[place].flow].places[link.uses[place].at] = place;
        link.uses.pop_back();
        link.used = link.uses.empty() ? 0 : link.used - route.links[at].share * rates_[flow];
        change(route.links[at].link);
    }
    status_[flow] = Status::absent;
}

void FairSharing::open_flow(Flow flow) {
    status_[flow] = Status::open;
    opened_.push_back(flow);
    for (RouteLink const& each : routes_[flow].links) {
        LinkState& link = links_[each.link];
        if (!link.touched) {
            link.touched = true;
            touched_.push_back(each.link);
        }
    }
}

std::vector<FairSharing::Flow> const& FairSharing::update() {
    opened_.clear();
    for (Flow const flow : added_) {
        if (status_[flow] == Status::settled) {
            open_flow(flow);
        }
    }
    for (LinkId const link : changed_) {
        links_[link].changed = false;
        for (Use const& use : links_[link].uses) {
            if (bottlenecks_[use.flow] == link && status_[use.flow] == Status::settled) {
                open_flow(use.flow);
            }
        }
    }
    added_.clear();
    changed_.clear();
    do {
        fill();
    } while (open_violated());
    for (Flow const flow : opened_) {
        status_[flow] = Status::settled;
    }
    for (LinkId const link : touched_) {
        links_[link].touched = false;
    }
    touched_.clear();
    return opened_;
}

/// Raises the rates of all open flows together, and freezes those on a link when it is full. The others keep theirs.
void FairSharing::fill() {
    for (LinkId const at : touched_) {
        LinkState& link = links_[at];
        link.left = link.capacity - link.used;
        link.weight = 0;
        link.open = 0;
    }
    for (Flow const flow : opened_) {
        status_[flow] = Status::open;
        for (RouteLink const& each : routes_[flow].links) {
            LinkState& link = links_[each.link];
            link.left += each.share * rates_[flow];
            link.weight += each.share;
            ++link.open;
        }
    }
    levels_.clear();
    for (LinkId const at : touched_) {
        LinkState const& link = links_[at];
        levels_.push_back({std::max(0.0, link.left) / link.weight, at});
    }
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    for (std::size_t frozen = 0; frozen < opened_.size();) {
        std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
        Level const first = levels_.back();
        levels_.pop_back();
        LinkState const& link = links_[first.link];
        if (link.open == 0) {
            continue;
        }
        // A level only rises while flows of other links freeze.
        double const now = std::max(first.rate, link.left / link.weight);
        if (now > first.rate * (1 + close)) {
            levels_.push_back({now, first.link});
            std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
        } else {
            frozen += freeze(first.link, first.rate);
        }
    }
}

std::size_t FairSharing::freeze(LinkId link, double rate) {
    std::size_t frozen = 0;
    for (Use const& use : links_[link].uses) {
        if (status_[use.flow] != Status::open) {
            continue;
        }
        status_[use.flow] = Status::frozen;
        ++frozen;
        rates_[use.flow] = rate;
        bottlenecks_[use.flow] = link;
        for (RouteLink const& each : routes_[use.flow].links) {
            LinkState& other = links_[each.link];
            other.left -= each.share * rate;
            other.weight -= each.share;
            --other.open;
        }
    }
    return frozen;
}

/// Opens the flows that did not move though they would have to: those whose bottleneck is no longer full or has a
/// faster flow, and those that are faster than a flow whose bottleneck they share. False: there are none.
bool FairSharing::open_violated() {
    std::size_t const opened = opened_.size();
    std::size_t const links = touched_.size();  // those of flows that are opened here come next time
    for (std::size_t index = 0; index < links; ++index) {
        LinkId const at = touched_[index];
        LinkState& link = links_[at];
        link.used = 0;
        double fastest = 0;
        double limited = -1;  // the rate of flows that were frozen here
        for (Use const& use : link.uses) {
            double const rate = rates_[use.flow];
            link.used += use.share * rate;
            fastest = std::max(fastest, rate);
            if (status_[use.flow] == Status::frozen && bottlenecks_[use.flow] == at) {
                limited = std::max(limited, rate);
            }
        }
        double const keeps = link.used >= link.capacity * (1 - close) ? fastest * (1 - close) : fastest * 2 + 1;
        for (Use const& use : link.uses) {
            if (status_[use.flow] != Status::settled) {
                continue;
            }
            double const rate = rates_[use.flow];
            bool const lost = rate < keeps && bottlenecks_[use.flow] == at;
            bool const takes = limited >= 0 && rate > limited * (1 + close);
            if (lost || takes) {
                open_flow(use.flow);
            }
        }
    }
    return opened_.size() > opened;
}

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How open flows are given their rates: progressive filling (Bertsekas and Gallager 1992) by bottleneck.
#include "common/tools/predict/network/fair_sharing.hpp"

#include <algorithm>
#include <functional>

namespace dlmb::predict {
namespace {

/// Rates that differ by less are equal: sums of some hundred shares in another order.
constexpr double close = 1e-9;

bool is_faster(double rate, double than) {
    return rate > than * (1 + close);
}

}  // namespace

/// Raises the rates of all open flows together, and freezes those on a link when it is full. The others keep theirs.
/// False: more had to be opened, and what is frozen does not hold.
bool FairSharing::fill() {
    for (LinkId const bottleneck : changes_.bottlenecks) {
        links_[bottleneck].frozen = false;
    }
    unfrozen_ = open_;
    levels_.clear();
    for (LinkId const at : touched_) {
        LinkState& link = links_[at];
        link.left = link.capacity - link.settled;
        link.weight = link.open_weight;
        link.unfrozen = link.open_flows;
        link.full = false;
        if (link.unfrozen > 0) {
            levels_.push_back({std::max(0.0, link.left) / link.weight, at});
        }
    }
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    while (unfrozen_ > 0) {
        std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
        Level const first = levels_.back();
        levels_.pop_back();
        LinkState const& link = links_[first.link];
        if (link.unfrozen == 0) {
            continue;
        }
        // A level only rises while flows of other links freeze.
        double const now = std::max(first.rate, link.left / link.weight);
        if (is_faster(now, first.rate)) {
            levels_.push_back({now, first.link});
            std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
        } else if (!freeze(first.link, first.rate)) {
            return false;
        }
    }
    return true;
}

/// All open flows that cross the link get this rate. Of two links that are full at the same rate, flows stay with the
/// one that they have been with. Where the link's own flows have another rate, they are opened instead; false: then
/// what is frozen does not hold.
bool FairSharing::freeze(LinkId at, double rate) {
    LinkState& link = links_[at];
    if (link.is_settled()) {
        if (is_faster(rate, link.rate) || is_faster(link.rate, rate)) {
            return open_while_filling(at, rate);
        }
        joined_.push_back(at);
    } else if (!link.open) {
        open(at);
    }
    link.full = true;
    if (link.open && !link.frozen) {
        freeze_members(at, rate);
    }
    crossed_from_ = link.crossed_from;
    for (std::size_t index = 0; index < crossed_from_.size() && link.unfrozen > 0; ++index) {
        LinkId const from = crossed_from_[index];
        LinkState& home = links_[from];
        if (from == at || !home.open || home.frozen) {
            continue;
        }
        double const level = home.left / home.weight;
        if (!is_faster(level, link.rate)) {
            freeze_members(from, std::max(link.rate, level));
            continue;
        }
        for (std::size_t place = home.members.size(); place-- > 0;) {
            Flow const flow = home.members[place];
            std::vector<RouteLink> const& route = flows_[flow].route;
            if (std::any_of(route.begin(), route.end(), [at](RouteLink const& each) { return each.link == at; })) {
                leave(flow);
                take(flow, at, link.rate);
            }
        }
    }
    for (Flow const flow : link.added) {
        if (flows_[flow].bottleneck == no_link) {
            take(flow, at, link.rate);
        }
    }
    return true;
}

/// The bottleneck's flows rise with the others from now on. False: they cross a link that is full already, or one that
/// would have been full before.
bool FairSharing::open_while_filling(LinkId bottleneck, double level) {
    LinkState const& home = links_[bottleneck];
    bool holds = true;
    for (Crossing const& each : home.crossed) {
        if (each.flows == 0) {
            continue;
        }
        LinkState& link = links_[each.link];
        if (!link.touched) {
            touch(each.link);
            link.left = link.capacity - link.settled;
            link.weight = 0;
            link.unfrozen = 0;
            link.full = false;
        }
        double const left = link.left + each.weight * home.rate;
        holds = holds && !link.full && !is_faster(level, left / (link.weight + each.weight));
    }
    open(bottleneck);
    if (!holds) {
        return false;
    }
    unfrozen_ += home.members.size();
    for (Crossing const& each : home.crossed) {
        LinkState& link = links_[each.link];
        link.left += each.weight * home.rate;
        link.weight += each.weight;
        link.unfrozen += each.flows;
        levels_.push_back({std::max(level, link.left / link.weight), each.link});
        std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
    }
    return true;
}

void FairSharing::freeze_members(LinkId bottleneck, double rate) {
    LinkState& home = links_[bottleneck];
    home.frozen = true;
    home.rate = rate;
    unfrozen_ -= home.members.size();
    for (Crossing const& each : home.crossed) {
        LinkState& link = links_[each.link];
        link.left -= each.weight * rate;
        link.weight -= each.weight;
        link.unfrozen -= each.flows;
    }
}

/// An open flow that is with no bottleneck joins this one.
void FairSharing::take(Flow flow, LinkId at, double rate) {
    join(flow, at);
    changes_.moved.push_back(flow);
    --unfrozen_;
    bool const settles = !links_[at].open;
    open_ -= settles ? 1U : 0U;
    for (RouteLink const& each : flows_[flow].route) {
        LinkState& link = links_[each.link];
        link.left -= each.share * rate;
        link.weight -= each.share;
        --link.unfrozen;
        if (settles) {
            link.settled += each.share * rate;
            link.open_weight -= each.share;
            --link.open_flows;
        }
    }
}

/// Opens what did not move though it would have to. False: there is nothing.
bool FairSharing::open_violated() {
    if (all_open_) {
        return false;
    }
    bool found = false;
    std::size_t const links = touched_.size();  // those of bottlenecks that are opened here come next time
    for (std::size_t index = 0; index < links; ++index) {
        LinkState const& link = links_[touched_[index]];
        if (link.is_settled() && link.left > link.capacity * close) {
            open(touched_[index]);
            found = true;
        }
    }
    std::size_t const opened = changes_.bottlenecks.size();
    for (std::size_t index = 0; index < opened; ++index) {
        found = open_violated_by(changes_.bottlenecks[index]) || found;
    }
    for (LinkId const bottleneck : joined_) {
        found = open_violated_by(bottleneck) || found;
    }
    return found;
}

/// Bottlenecks on which one of its flows is faster than their own, and those whose flows are faster on it.
bool FairSharing::open_violated_by(LinkId bottleneck) {
    LinkState const& home = links_[bottleneck];
    if (home.members.empty()) {
        return false;
    }
    bool found = false;
    for (Crossing const& each : home.crossed) {
        LinkState const& other = links_[each.link];
        if (each.flows > 0 && other.is_settled() && is_faster(home.rate, other.rate)) {
            open(each.link);
            found = true;
        }
    }
    for (LinkId const from : home.crossed_from) {
        if (links_[from].is_settled() && is_faster(links_[from].rate, home.rate)) {
            open(from);
            found = true;
        }
    }
    return found;
}

}  // namespace dlmb::predict

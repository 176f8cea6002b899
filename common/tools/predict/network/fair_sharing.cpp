// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/fair_sharing.hpp"

#include <algorithm>

namespace dlmb::predict {

FairSharing::FairSharing(std::vector<double> const& capacities) : links_(capacities.size()) {
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

void FairSharing::touch(LinkId link) {
    if (!links_[link].touched) {
        links_[link].touched = true;
        touched_.push_back(link);
    }
}

void FairSharing::add(Flow flow, std::vector<RouteLink> const& route) {
    if (flow >= flows_.size()) {
        flows_.resize(flow + 1);
    }
    FlowState& own = flows_[flow];
    own.route = route;
    own.bottleneck = no_link;
    own.status = Status::added;
    for (RouteLink const& each : route) {
        links_[each.link].all_weight += each.share;
        ++links_[each.link].all_flows;
        change(each.link);
    }
    added_.push_back(flow);
}

void FairSharing::remove(Flow flow) {
    FlowState& own = flows_[flow];
    for (RouteLink const& each : own.route) {
        LinkState& link = links_[each.link];
        --link.all_flows;
        link.all_weight = link.all_flows == 0 ? 0 : link.all_weight - each.share;
    }
    if (own.status == Status::present) {
        --present_;
        double const rate = links_[own.bottleneck].rate;
        leave(flow);
        for (RouteLink const& each : own.route) {
            LinkState& link = links_[each.link];
            link.settled = link.crossed_from.empty() ? 0 : link.settled - each.share * rate;
            change(each.link);
        }
        own.bottleneck = no_link;
    }
    own.status = Status::absent;
}

std::vector<FairSharing::Crossing>::iterator FairSharing::place_of(LinkId link, std::vector<Crossing>& crossed) {
    return std::lower_bound(crossed.begin(), crossed.end(), link,
                            [](Crossing const& left, LinkId right) { return left.link < right; });
}

void FairSharing::join(Flow flow, LinkId bottleneck) {
    FlowState& own = flows_[flow];
    LinkState& home = links_[bottleneck];
    own.bottleneck = bottleneck;
    own.place = static_cast<std::uint32_t>(home.members.size());
    home.members.push_back(flow);
    for (RouteLink const& each : own.route) {
        auto crossing = place_of(each.link, home.crossed);
        if (crossing == home.crossed.end() || crossing->link != each.link) {
            crossing = home.crossed.insert(crossing, Crossing{each.link, 0, 0});
        }
        if (crossing->flows++ == 0) {
            std::vector<LinkId>& from = links_[each.link].crossed_from;
            from.insert(std::lower_bound(from.begin(), from.end(), bottleneck), bottleneck);
        }
        crossing->weight += each.share;
    }
}

void FairSharing::leave(Flow flow) {
    FlowState const& own = flows_[flow];
    LinkState& home = links_[own.bottleneck];
    home.members[own.place] = home.members.back();
    flows_[home.members[own.place]].place = own.place;
    home.members.pop_back();
    for (RouteLink const& each : own.route) {
        auto const crossing = place_of(each.link, home.crossed);
        crossing->weight -= each.share;
        if (--crossing->flows == 0) {  // stays in the list until the bottleneck is opened
            crossing->weight = 0;
            std::vector<LinkId>& from = links_[each.link].crossed_from;
            from.erase(std::lower_bound(from.begin(), from.end(), own.bottleneck));
        }
    }
}

void FairSharing::open_added(Flow flow) {
    flows_[flow].status = Status::present;
    ++present_;
    ++open_;
    for (RouteLink const& each : flows_[flow].route) {
        LinkState& link = links_[each.link];
        link.open_weight += each.share;
        ++link.open_flows;
        link.added.push_back(flow);
        touch(each.link);
    }
}

void FairSharing::open(LinkId bottleneck) {
    LinkState& home = links_[bottleneck];
    home.open = true;
    home.frozen = false;
    changes_.bottlenecks.push_back(bottleneck);
    open_ += home.members.size();
    std::erase_if(home.crossed, [](Crossing const& each) { return each.flows == 0; });
    for (Crossing const& each : home.crossed) {
        LinkState& link = links_[each.link];
        link.settled -= each.weight * home.rate;
        link.open_weight += each.weight;
        link.open_flows += each.flows;
        touch(each.link);
    }
}

void FairSharing::open_changed() {
    std::size_t flows = open_;
    for (LinkId const link : changed_) {
        links_[link].changed = false;
        flows += links_[link].members.size();
    }
    if (2 * flows >= present_ && 4 * flows >= links_.size()) {  // else a look at every link costs more
        open_all();
        return;
    }
    for (LinkId const link : changed_) {
        if (links_[link].is_settled()) {
            open(link);
        }
    }
}

/// What open() does for each bottleneck, from what is known of each link.
void FairSharing::open_all() {
    all_open_ = true;
    open_ = present_;
    for (LinkId at = 0; at < links_.size(); ++at) {
        LinkState& link = links_[at];
        if (!link.members.empty()) {
            link.open = true;
            std::erase_if(link.crossed, [](Crossing const& each) { return each.flows == 0; });
            changes_.bottlenecks.push_back(at);
        }
        link.settled = 0;
        link.open_weight = link.all_weight;
        link.open_flows = link.all_flows;
        if (link.all_flows > 0) {
            touch(at);
        }
    }
}

FairSharing::Changes const& FairSharing::update() {
    changes_.bottlenecks.clear();
    changes_.moved.clear();
    joined_.clear();
    all_open_ = false;
    open_ = 0;
    for (Flow const flow : added_) {
        if (flows_[flow].status == Status::added) {
            open_added(flow);
        }
    }
    open_changed();
    added_.clear();
    changed_.clear();
    while (!fill() || open_violated()) {
    }
    settle();
    return changes_;
}

void FairSharing::settle() {
    for (LinkId const bottleneck : changes_.bottlenecks) {
        LinkState& home = links_[bottleneck];
        home.open = false;
        if (!all_open_) {
            for (Crossing const& each : home.crossed) {
                links_[each.link].settled += each.weight * home.rate;
            }
        }
    }
    for (LinkId const at : touched_) {
        LinkState& link = links_[at];
        link.touched = false;
        link.open_weight = 0;
        link.open_flows = 0;
        link.added.clear();
        link.settled = all_open_ ? link.capacity - link.left : link.settled;
        link.settled = link.crossed_from.empty() ? 0 : link.settled;
    }
    touched_.clear();
    changes_.bottlenecks.insert(changes_.bottlenecks.end(), joined_.begin(), joined_.end());
}

}  // namespace dlmb::predict

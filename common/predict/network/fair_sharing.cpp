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

void FairSharing::add(Flow flow, std::vector<WayLink> const& way) {
    if (flow >= flows_.size()) {
        flows_.resize(flow + 1);
    }
    FlowState& state = flows_[flow];
    state.way = way;
    state.places.clear();
    state.rate = 0;
    state.bottleneck = no_link;
    state.present = true;
    for (std::uint32_t at = 0; at < way.size(); ++at) {
        LinkState& link = links_[way[at].link];
        state.places.push_back(static_cast<std::uint32_t>(link.uses.size()));
        link.uses.push_back({flow, at, way[at].share});
        change(way[at].link);
    }
    added_.push_back(flow);
}

void FairSharing::remove(Flow flow) {
    FlowState& state = flows_[flow];
    for (std::size_t at = 0; at < state.way.size(); ++at) {
        std::vector<Use>& uses = links_[state.way[at].link].uses;
        std::uint32_t const place = state.places[at];
        uses[place] = uses.back();
        flows_[uses[place].flow].places[uses[place].at] = place;
        uses.pop_back();
        change(state.way[at].link);
    }
    state.present = false;
}

void FairSharing::open_flow(Flow flow) {
    FlowState& state = flows_[flow];
    if (!state.open) {
        state.open = true;
        state.frozen = false;
        open_.push_back(flow);
        for (WayLink const& each : state.way) {
            if (!links_[each.link].touched) {
                links_[each.link].touched = true;
                touched_.push_back(each.link);
            }
        }
    }
}

std::vector<FairSharing::Flow> const& FairSharing::update() {
    open_.clear();
    for (Flow const flow : added_) {
        if (flows_[flow].present) {
            open_flow(flow);
        }
    }
    for (LinkId const link : changed_) {
        links_[link].changed = false;
        for (Use const& use : links_[link].uses) {
            if (flows_[use.flow].bottleneck == link) {
                open_flow(use.flow);
            }
        }
    }
    added_.clear();
    changed_.clear();
    do {
        fill();
    } while (open_violated());
    for (Flow const flow : open_) {
        flows_[flow].open = false;
    }
    for (LinkId const link : touched_) {
        links_[link].touched = false;
    }
    touched_.clear();
    return open_;
}

/// Raises the rates of all open flows together, and freezes those on a link when it is full. The others keep theirs.
void FairSharing::fill() {
    levels_.clear();
    for (Flow const flow : open_) {
        flows_[flow].frozen = false;
    }
    for (LinkId const at : touched_) {
        LinkState& link = links_[at];
        link.left = link.capacity;
        link.weight = 0;
        link.open = 0;
        for (Use const& use : link.uses) {
            if (flows_[use.flow].open) {
                link.weight += use.share;
                ++link.open;
            } else {
                link.left -= use.share * flows_[use.flow].rate;
            }
        }
        levels_.push_back({std::max(0.0, link.left) / link.weight, at});
    }
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    while (!levels_.empty()) {
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
            freeze(first.link, first.rate);
        }
    }
}

void FairSharing::freeze(LinkId link, double rate) {
    for (Use const& use : links_[link].uses) {
        FlowState& flow = flows_[use.flow];
        if (!flow.open || flow.frozen) {
            continue;
        }
        flow.frozen = true;
        flow.rate = rate;
        flow.bottleneck = link;
        for (WayLink const& each : flow.way) {
            LinkState& other = links_[each.link];
            other.left -= each.share * rate;
            other.weight -= each.share;
            --other.open;
        }
    }
}

/// Opens the flows that did not move though they would have to: those whose bottleneck is no longer full or has a
/// faster flow, and those that are faster than a flow whose bottleneck they share. False: there are none.
bool FairSharing::open_violated() {
    std::size_t const opened = open_.size();
    std::size_t const links = touched_.size();  // those of flows that are opened here come next time
    for (std::size_t index = 0; index < links; ++index) {
        LinkId const at = touched_[index];
        LinkState const& link = links_[at];
        double used = 0;
        double fastest = 0;
        double limited = 0;  // the rate of open flows that are limited here
        bool limits = false;
        for (Use const& use : link.uses) {
            FlowState const& flow = flows_[use.flow];
            used += use.share * flow.rate;
            fastest = std::max(fastest, flow.rate);
            if (flow.frozen && flow.open && flow.bottleneck == at) {
                limited = std::max(limited, flow.rate);
                limits = true;
            }
        }
        bool const full = used >= link.capacity * (1 - close);
        for (Use const& use : link.uses) {
            FlowState const& flow = flows_[use.flow];
            if (flow.open) {
                continue;
            }
            bool const lost = flow.bottleneck == at && (!full || flow.rate < fastest * (1 - close));
            bool const takes = limits && flow.rate > limited * (1 + close);
            if (lost || takes) {
                open_flow(use.flow);
            }
        }
    }
    return open_.size() > opened;
}

}  // namespace dlmb::predict

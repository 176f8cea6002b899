// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/link_network.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace dlmb::predict {

LinkNetwork::LinkNetwork(Interconnect const& interconnect, std::vector<int> nodes, LinkCosts const& costs)
    : interconnect_(interconnect), nodes_(std::move(nodes)), costs_(costs), loads_(interconnect),
      links_(interconnect.links()) {
    for (LinkId link = 0; link < interconnect.links(); ++link) {
        links_[link].left = links_[link].capacity = interconnect.capacity(link) * costs.bytes_per_ps;
    }
    constexpr int enough = 1024;  // nodes, of which one is a nearest neighbor of node 0
    std::vector<LinkId> route;
    for (int node = 1; costs.hop_latency > 0 && node < std::min(interconnect.nodes(), enough); ++node) {
        interconnect.route(0, node, route);
        shortest_ = std::min(shortest_, route.size());
    }
}

void LinkNetwork::start(FlowId flow, Rank from, Rank to, Bytes bytes, Picoseconds now) {
    int const source = nodes_.at(static_cast<std::size_t>(from));
    int const target = nodes_.at(static_cast<std::size_t>(to));
    if (source == target) {
        throw Error(fmt::format("ranks {} and {} are on one node: no link is between them", from, to));
    }
    if (flow >= flows_.size()) {
        flows_.resize(flow + 1);
        rates_.resize(flow + 1);
    }
    now_ = now;
    Flow& state = flows_[flow];
    interconnect_.route(source, target, state.route);
    state.left = static_cast<double>(bytes);
    state.since = state.begin = now;
    state.end = never;
    state.sequence = sequence_++;
    state.over = false;
    rates_[flow] = 0;
    begun_.push_back(flow);
    if (!std::exchange(state.listed, true)) {
        active_.push_back(flow);
    }
    double slowest = 0;  // of the links, alone
    for (LinkId const link : state.route) {
        loads_.add(link, state.left);
        ++links_[link].active;
        slowest = std::max(slowest, 1 / links_[link].capacity);
    }
    settle_within(costs_.tolerance * state.left * slowest);
}

void LinkNetwork::settle_within(double picoseconds) {
    settle_at_ = std::min(settle_at_, now_ + static_cast<Picoseconds>(picoseconds));
}

void LinkNetwork::settle() {
    settle_at_ = never;
    ++updates_;
    // A flow that begins gets at least an even share of each of its links.
    double least = std::exchange(lowest_ended_, std::numeric_limits<double>::infinity());
    for (FlowId const flow : begun_) {
        for (LinkId const link : flows_[flow].route) {
            least = std::min(least, links_[link].capacity / links_[link].active);
        }
    }
    begun_.clear();
    constexpr double same = 1 - 1e-9;  // rates that are equal but for rounding
    take_out(same * least);
    list_flows_of_links();
    fill();
    list_ends();
}

/// Rates from `least` on are given back to their links.
void LinkNetwork::take_out(double least) {
    changing_.clear();
    std::erase_if(active_, [&](FlowId flow) {
        double const rate = rates_[flow];
        if (rate > 0 && rate < least) {
            return false;
        }
        Flow& state = flows_[flow];
        if (state.over) {
            state.listed = false;
            return true;
        }
        for (LinkId const link : state.route) {
            links_[link].left += rate;
        }
        rates_[flow] = 0;
        state.left = std::max(0.0, state.left - rate * static_cast<double>(now_ - state.since));
        state.since = now_;
        changing_.push_back(flow);
        return false;
    });
}

void LinkNetwork::list_flows_of_links() {
    touched_.clear();
    for (FlowId const flow : changing_) {
        for (LinkId const at : flows_[flow].route) {
            Link& link = links_[at];
            if (link.flows++ == 0) {
                touched_.push_back(at);
            }
        }
    }
    std::uint32_t first = 0;
    for (LinkId const at : touched_) {
        Link& link = links_[at];
        link.first = first;
        link.crossed = 0;
        first += link.flows;
        if (link.flows == link.active) {
            link.left = link.capacity;  // without what rounding has left
        }
    }
    flows_of_links_.resize(first);
    for (FlowId const flow : changing_) {
        for (LinkId const at : flows_[flow].route) {
            Link& link = links_[at];
            flows_of_links_[link.first + link.crossed++] = flow;
        }
    }
}

void LinkNetwork::list_ends() {
    auto const end_of = [this](FlowId flow) { return End{flows_[flow].end, flows_[flow].sequence, flow}; };
    for (FlowId const flow : changing_) {
        Flow& state = flows_[flow];
        state.end = now_ + std::max<Picoseconds>(1, std::llround(state.left / rates_[flow]));
    }
    if (ends_.size() + changing_.size() > 2 * active_.size()) {
        ends_.clear();
        std::transform(active_.begin(), active_.end(), std::back_inserter(ends_), end_of);
        std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
        return;
    }
    for (FlowId const flow : changing_) {
        ends_.push_back(end_of(flow));
        std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
    }
}

/// Progressive filling: raises all rates together, and freezes those on a link when it is full.
void LinkNetwork::fill() {
    struct Level {  // what each flow of a link would get
        double rate;
        LinkId link;
        bool operator>(Level const& other) const { return rate != other.rate ? rate > other.rate : link > other.link; }
    };
    std::vector<Level> levels;
    for (LinkId const link : touched_) {
        levels.push_back({links_[link].left / links_[link].flows, link});
    }
    std::make_heap(levels.begin(), levels.end(), std::greater<>());
    while (!levels.empty()) {
        std::pop_heap(levels.begin(), levels.end(), std::greater<>());
        auto const [rate, at] = levels.back();
        levels.pop_back();
        Link const& full = links_[at];
        if (full.flows == 0) {
            continue;
        }
        // A level only rises while flows of other links freeze.
        if (double const now = full.left / full.flows; now > rate) {
            levels.push_back({now, at});
            std::push_heap(levels.begin(), levels.end(), std::greater<>());
            continue;
        }
        for (std::uint32_t place = full.first; place < full.first + full.crossed; ++place) {
            FlowId const flow = flows_of_links_[place];
            if (rates_[flow] > 0) {
                continue;
            }
            rates_[flow] = rate;
            for (LinkId const each : flows_[flow].route) {
                links_[each].left -= rate;
                --links_[each].flows;
            }
        }
    }
}

void LinkNetwork::drop_old_ends() {
    while (!ends_.empty() &&
           (flows_[ends_.front().flow].over || flows_[ends_.front().flow].end != ends_.front().time)) {
        std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
        ends_.pop_back();
    }
}

Picoseconds LinkNetwork::next_event() {
    drop_old_ends();
    if (settle_at_ <= now_ && (ends_.empty() || ends_.front().time > now_)) {
        settle();
        drop_old_ends();
    }
    return std::min(settle_at_, ends_.empty() ? never : ends_.front().time);
}

std::optional<FlowId> LinkNetwork::end_next(Picoseconds now) {
    now_ = now;
    if (next_event() > now || ends_.empty() || ends_.front().time > now) {
        return std::nullopt;
    }
    FlowId const flow = ends_.front().flow;
    Flow& state = flows_[flow];
    state.over = true;
    lowest_ended_ = std::min(lowest_ended_, rates_[flow]);
    for (LinkId const link : state.route) {
        --links_[link].active;
        links_[link].left += rates_[flow];
    }
    rates_[flow] = 0;
    settle_within(costs_.tolerance * static_cast<double>(now_ - state.begin));
    return flow;
}

Picoseconds LinkNetwork::extra_latency(Rank from, Rank to) const {
    if (costs_.hop_latency == 0) {
        return 0;
    }
    std::vector<LinkId> route;
    interconnect_.route(nodes_.at(static_cast<std::size_t>(from)), nodes_.at(static_cast<std::size_t>(to)), route);
    return static_cast<Picoseconds>(route.size() - std::min(shortest_, route.size())) * costs_.hop_latency;
}

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/link_network.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace dlmb::predict {

LinkNetwork::LinkNetwork(Interconnect const& interconnect, std::vector<int> nodes, LinkCosts const& costs)
    : interconnect_(interconnect), nodes_(std::move(nodes)), costs_(costs), loads_(interconnect),
      links_(interconnect.links()) {
    for (LinkId link = 0; link < interconnect.links(); ++link) {
        links_[link].capacity = interconnect.capacity(link) * costs.bytes_per_ps;
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
    }
    now_ = now;
    Flow& state = flows_[flow];
    interconnect_.route(source, target, state.route);
    state.left = static_cast<double>(bytes);
    state.rate = 0;
    state.begin = now;
    state.sequence = sequence_++;
    state.over = false;
    if (!std::exchange(state.listed, true)) {
        active_.push_back(flow);
    }
    double slowest = 0;  // of the links, alone
    for (LinkId const link : state.route) {
        loads_.add(link, state.left);
        slowest = std::max(slowest, 1 / links_[link].capacity);
    }
    settle_within(costs_.tolerance * state.left * slowest);
}

void LinkNetwork::settle_within(double picoseconds) {
    settle_at_ = std::min(changed_ ? settle_at_ : never, now_ + static_cast<Picoseconds>(picoseconds));
    changed_ = true;
}

void LinkNetwork::settle() {
    changed_ = false;
    ++updates_;
    std::erase_if(active_, [this](FlowId flow) {
        flows_[flow].listed = !flows_[flow].over;
        return flows_[flow].over;
    });
    for (FlowId const flow : active_) {
        Flow& state = flows_[flow];
        state.left = std::max(0.0, state.left - state.rate * static_cast<double>(now_ - settled_));
        state.rate = 0;
    }
    settled_ = now_;
    fill();
    ends_.clear();
    for (FlowId const flow : active_) {
        Flow const& state = flows_[flow];
        ends_.push_back({now_ + std::max<Picoseconds>(1, std::llround(state.left / state.rate)), state.sequence, flow});
    }
    std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
}

void LinkNetwork::list_flows_of_links() {
    for (Link& link : links_) {
        link.left = link.capacity;
        link.flows = 0;
    }
    for (FlowId const flow : active_) {
        for (LinkId const link : flows_[flow].route) {
            ++links_[link].flows;
        }
    }
    std::uint32_t first = 0;
    for (Link& link : links_) {
        link.first = first;
        link.crossed = 0;
        first += link.flows;
    }
    flows_of_links_.resize(first);
    for (FlowId const flow : active_) {
        for (LinkId const at : flows_[flow].route) {
            Link& link = links_[at];
            flows_of_links_[link.first + link.crossed++] = flow;
        }
    }
}

/// Progressive filling: raises all rates together, and freezes those on a link when it is full.
void LinkNetwork::fill() {
    struct Level {  // what each flow of a link would get
        double rate;
        LinkId link;
        bool operator>(Level const& other) const { return rate != other.rate ? rate > other.rate : link > other.link; }
    };
    list_flows_of_links();
    std::vector<Level> levels;
    for (LinkId link = 0; link < links_.size(); ++link) {
        if (links_[link].flows > 0) {
            levels.push_back({links_[link].left / links_[link].flows, link});
        }
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
            Flow& flow = flows_[flows_of_links_[place]];
            if (flow.rate > 0) {
                continue;
            }
            flow.rate = rate;
            for (LinkId const each : flow.route) {
                links_[each].left -= rate;
                --links_[each].flows;
            }
        }
    }
}

Picoseconds LinkNetwork::next_event() {
    if (changed_ && settle_at_ <= now_ && (ends_.empty() || ends_.front().time > now_)) {
        settle();
    }
    return std::min(changed_ ? settle_at_ : never, ends_.empty() ? never : ends_.front().time);
}

std::optional<FlowId> LinkNetwork::end_next(Picoseconds now) {
    now_ = now;
    if (next_event() > now || ends_.empty() || ends_.front().time > now) {
        return std::nullopt;
    }
    FlowId const flow = ends_.front().flow;
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
    flows_[flow].over = true;
    settle_within(costs_.tolerance * static_cast<double>(now_ - flows_[flow].begin));
    return flow;
}

Picoseconds LinkNetwork::extra_latency(Rank from, Rank to) const {
    int const hops =
        interconnect_.hops(nodes_.at(static_cast<std::size_t>(from)), nodes_.at(static_cast<std::size_t>(to)));
    return std::max(0, hops - 1) * costs_.hop_latency;
}

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/link_network.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace dlmb::predict {
namespace {

std::vector<double> capacities_of(Interconnect const& interconnect, double bytes_per_ps) {
    std::vector<double> capacities(interconnect.links());
    for (LinkId link = 0; link < interconnect.links(); ++link) {
        capacities[link] = interconnect.capacity(link) * bytes_per_ps;
    }
    return capacities;
}

}  // namespace

LinkNetwork::LinkNetwork(Interconnect const& interconnect, std::vector<int> nodes, LinkCosts const& costs)
    : interconnect_(interconnect), nodes_(std::move(nodes)), costs_(costs), loads_(interconnect),
      sharing_(capacities_of(interconnect, costs.bytes_per_ps)) {}

void LinkNetwork::start(FlowId flow, Rank from, Rank to, Bytes bytes, Picoseconds now) {
    int const source = nodes_.at(static_cast<std::size_t>(from));
    int const target = nodes_.at(static_cast<std::size_t>(to));
    if (source == target) {
        throw Error(fmt::format("ranks {} and {} are on one node: no link is between them", from, to));
    }
    if (flow >= states_.size()) {
        states_.resize(flow + 1);
    }
    now_ = now;
    State& state = states_[flow];
    state.left = static_cast<double>(bytes);
    state.rate = 0;
    state.since = state.begin = now;
    state.sequence = sequence_++;
    ++state.version;
    interconnect_.route(source, target, route_);
    sharing_.add(flow, route_);
    double slowest = 0;  // of the links, alone
    for (RouteLink const& each : route_) {
        loads_.add(each.link, each.share * state.left);
        slowest = std::max(slowest, each.share / (interconnect_.capacity(each.link) * costs_.bytes_per_ps));
    }
    settle_within(costs_.tolerance * state.left * slowest);
}

void LinkNetwork::settle_within(double picoseconds) const {
    settle_at_ = std::min(changed_ ? settle_at_ : never, now_ + static_cast<Picoseconds>(picoseconds));
    changed_ = true;
}

void LinkNetwork::drop_stale() const {
    while (!ends_.empty() && ends_.front().version != states_[ends_.front().flow].version) {
        std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
        ends_.pop_back();
    }
}

void LinkNetwork::settle() const {
    changed_ = false;
    ++updates_;
    double durations = 0;
    std::size_t const before = ends_.size();
    for (FlowId const flow : sharing_.update()) {
        State& state = states_[flow];
        double const rate = sharing_.rate(flow);
        if (rate == state.rate) {
            continue;
        }
        state.left = std::max(0.0, state.left - state.rate * static_cast<double>(now_ - state.since));
        state.since = now_;
        state.rate = rate;
        ++state.version;
        auto const takes = std::max<Picoseconds>(1, std::llround(state.left / rate));
        durations += static_cast<double>(now_ - state.begin + takes);
        ends_.push_back({now_ + takes, state.sequence, flow, state.version});
    }
    std::size_t const given = ends_.size() - before;
    mean_duration_ = given > 0 ? durations / static_cast<double>(given) : mean_duration_;
    if (given > before / 8) {  // most of what was expected before is no longer true
        std::erase_if(ends_, [this](End const& end) { return end.version != states_[end.flow].version; });
        std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
        return;
    }
    for (std::size_t size = before; size < ends_.size();) {
        std::push_heap(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(++size), std::greater<>());
    }
}

Picoseconds LinkNetwork::next_event() const {
    drop_stale();
    if (changed_ && settle_at_ <= now_ && (ends_.empty() || ends_.front().time > now_)) {
        settle();
        drop_stale();
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
    ++states_[flow].version;
    sharing_.remove(flow);
    settle_within(costs_.tolerance * mean_duration_);
    return flow;
}

Picoseconds LinkNetwork::extra_latency(Rank from, Rank to) const {
    double const hops =
        interconnect_.hops(nodes_.at(static_cast<std::size_t>(from)), nodes_.at(static_cast<std::size_t>(to)));
    return std::llround(std::max(0.0, hops - 1) * static_cast<double>(costs_.hop_latency));
}

}  // namespace dlmb::predict

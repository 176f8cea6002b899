// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/link_network.hpp"

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
      sharing_(capacities_of(interconnect, costs.bytes_per_ps)), services_(interconnect.links()) {}

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
    state.bottleneck = FairSharing::no_link;
    state.until = static_cast<double>(bytes);
    state.begin = now;
    state.sequence = sequence_++;
    ++state.version;
    interconnect_.route(source, target, route_);
    sharing_.add(flow, route_);
    double slowest = 0;  // of the links, alone
    for (RouteLink const& each : route_) {
        loads_.add(each.link, each.share * state.until);
        slowest = std::max(slowest, each.share / (interconnect_.capacity(each.link) * costs_.bytes_per_ps));
    }
    settle_within(costs_.tolerance * state.until * slowest);
}

void LinkNetwork::settle_within(double picoseconds) const {
    settle_at_ = std::min(changed_ ? settle_at_ : never, now_ + static_cast<Picoseconds>(picoseconds));
    changed_ = true;
}

void LinkNetwork::drop_stale() const {
    while (!ends_.empty() && ends_.front().version != services_[ends_.front().bottleneck].version) {
        std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
        ends_.pop_back();
    }
}

void LinkNetwork::drop_stale(Service& service) const {
    std::vector<Waiting>& waiting = service.waiting;
    while (!waiting.empty() && waiting.front().version != states_[waiting.front().flow].version) {
        std::pop_heap(waiting.begin(), waiting.end(), std::greater<>());
        waiting.pop_back();
    }
}

Picoseconds LinkNetwork::end_of(Waiting const& first, Service const& service) {
    return service.since + std::max<Picoseconds>(1, std::llround((first.until - service.served) / service.rate));
}

void LinkNetwork::expect_end(LinkId bottleneck) const {
    Service& service = services_[bottleneck];
    ++service.version;
    drop_stale(service);
    if (service.waiting.empty()) {
        service.served = 0;
        service.rate = 0;
        return;
    }
    Waiting const& first = service.waiting.front();
    ends_.push_back({end_of(first, service), first.sequence, bottleneck, service.version});
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

/// To the bottleneck that it has now. What both have served is up to date.
void LinkNetwork::move(FlowId flow) const {
    State& state = states_[flow];
    LinkId const bottleneck = sharing_.bottleneck(flow);
    if (state.bottleneck == bottleneck) {
        return;
    }
    double const left = state.bottleneck == FairSharing::no_link
                            ? state.until
                            : std::max(0.0, state.until - services_[state.bottleneck].served);
    Service& service = services_[bottleneck];
    state.bottleneck = bottleneck;
    state.until = service.served + left;
    ++state.version;
    std::vector<Waiting>& waiting = service.waiting;
    if (waiting.size() > 2 * sharing_.flows_of_bottleneck(bottleneck)) {
        std::erase_if(waiting, [this](Waiting const& each) { return each.version != states_[each.flow].version; });
        std::make_heap(waiting.begin(), waiting.end(), std::greater<>());
    }
    waiting.push_back({state.until, state.sequence, flow, state.version});
    std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
}

void LinkNetwork::settle() const {
    changed_ = false;
    ++updates_;
    FairSharing::Changes const& changes = sharing_.update();
    for (LinkId const bottleneck : changes.bottlenecks) {
        Service& service = services_[bottleneck];
        service.served += service.rate * static_cast<double>(now_ - service.since);
        service.since = now_;
        service.rate = sharing_.rate_of_bottleneck(bottleneck);
    }
    for (FlowId const flow : changes.moved) {
        move(flow);
    }
    if (ends_.size() > 2 * services_.size()) {
        std::erase_if(ends_, [this](End const& end) { return end.version != services_[end.bottleneck].version; });
        std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
    }
    double durations = 0;
    int given = 0;
    for (LinkId const bottleneck : changes.bottlenecks) {
        expect_end(bottleneck);
        Service const& service = services_[bottleneck];
        if (!service.waiting.empty()) {
            Waiting const& first = service.waiting.front();
            durations += static_cast<double>(end_of(first, service) - states_[first.flow].begin);
            ++given;
        }
    }
    mean_duration_ = given > 0 ? durations / given : mean_duration_;
}

Picoseconds LinkNetwork::next_event() const {
    if (!ended_.empty()) {
        return now_;
    }
    drop_stale();
    if (changed_ && settle_at_ <= now_ && (ends_.empty() || ends_.front().time > now_)) {
        settle();
        drop_stale();
    }
    return std::min(changed_ ? settle_at_ : never, ends_.empty() ? never : ends_.front().time);
}

std::optional<FlowId> LinkNetwork::end_next(Picoseconds now) {
    now_ = now;
    if (ended_.empty()) {
        if (next_event() > now || ends_.empty() || ends_.front().time > now) {
            return std::nullopt;
        }
        take_out_ended();
    }
    FlowId const flow = ended_.back();
    ended_.pop_back();
    return flow;
}

/// All messages that end now.
void LinkNetwork::take_out_ended() {
    while (!ends_.empty() && ends_.front().time <= now_) {
        LinkId const bottleneck = ends_.front().bottleneck;
        Service& service = services_[bottleneck];
        while (!service.waiting.empty() && end_of(service.waiting.front(), service) <= now_) {
            FlowId const flow = service.waiting.front().flow;
            ++states_[flow].version;
            ended_.push_back(flow);
            sharing_.remove(flow);
            drop_stale(service);
        }
        expect_end(bottleneck);
        drop_stale();
    }
    std::sort(ended_.begin(), ended_.end(),
              [this](FlowId left, FlowId right) { return states_[left].sequence > states_[right].sequence; });
    settle_within(costs_.tolerance * mean_duration_);
}

Picoseconds LinkNetwork::extra_latency(Rank from, Rank to) const {
    double const hops =
        interconnect_.hops(nodes_.at(static_cast<std::size_t>(from)), nodes_.at(static_cast<std::size_t>(to)));
    return std::llround(std::max(0.0, hops - 1) * static_cast<double>(costs_.hop_latency));
}

}  // namespace dlmb::predict

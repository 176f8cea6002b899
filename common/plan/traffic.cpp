// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/traffic.hpp"

#include "common/plan/group_index.hpp"

#include <algorithm>

namespace dlmb {
namespace {

/// floor(times * bytes * (ranks - 1) / ranks), without the product that could overflow: bytes = q * ranks + r.
Bytes all_but_own_share(Bytes times, Bytes bytes, Bytes ranks) {
    Bytes const others = times * (ranks - 1);
    return bytes / ranks * others + bytes % ranks * others / ranks;
}

/// Adds what a collective moves at best. A chain of ranks passes a broadcast or a reduction on: each sends and receives
/// it once, the root only one of the two.
struct CollectiveTraffic {
    RankTraffic& traffic;
    Plan const& plan;

    void operator()(AllReduce const& step) const {
        Bytes const moved = all_but_own_share(2, step.bytes, ranks(step));
        add(step.bytes, step.bytes, step.bytes, moved, moved);
    }
    void operator()(AllGather const& step) const {
        Bytes const others = step.bytes - shares_of(plan, step).of(place(step));
        add(step.bytes, step.bytes, step.bytes, all_but_own_share(1, step.bytes, ranks(step)), others);
    }
    void operator()(ReduceScatter const& step) const {
        Bytes const others = step.bytes - shares_of(plan, step).of(place(step));
        add(step.bytes, step.bytes, step.bytes, others, all_but_own_share(1, step.bytes, ranks(step)));
    }
    void operator()(Broadcast const& step) const {
        Bytes const moved = ranks(step) > 1 ? step.bytes : 0;
        is_root(step) ? add(step.bytes, step.bytes, 0, moved, 0) : add(0, 0, step.bytes, 0, moved);
    }
    void operator()(Reduce const& step) const {
        Bytes const moved = ranks(step) > 1 ? step.bytes : 0;
        is_root(step) ? add(step.bytes, step.bytes, step.bytes, 0, moved) : add(step.bytes, step.bytes, 0, moved, 0);
    }
    void operator()(Gather const& step) const {
        Bytes const own = shares_of(plan, step).of(place(step));
        is_root(step) ? add(own, own, step.bytes, 0, step.bytes - own) : add(own, own, 0, own, 0);
        traffic.self += is_root(step) ? own : 0;
    }
    void operator()(Scatter const& step) const {
        Bytes const own = shares_of(plan, step).of(place(step));
        is_root(step) ? add(step.bytes, step.bytes, own, step.bytes - own, 0) : add(0, 0, own, 0, own);
        traffic.self += is_root(step) ? own : 0;
    }
    template <class Other>
    void operator()(Other const& /*step*/) const {}

private:
    void add(Bytes payload, Bytes sent, Bytes received, Bytes out, Bytes in) const {
        traffic.payload += payload;
        traffic.send_total += sent;
        traffic.recv_total += received;
        traffic.out += out;
        traffic.in += in;
    }
    [[nodiscard]] Bytes ranks(auto const& step) const { return plan.groups.at(step.group).members.size(); }
    [[nodiscard]] Rank place(auto const& step) const { return rank_in(plan.groups.at(step.group), plan.me).value(); }
    [[nodiscard]] bool is_root(auto const& step) const { return world_rank(plan, step.group, step.root) == plan.me; }
};

void add(RankTraffic& traffic, Plan const& plan, Operation const& operation) {
    auto const is_me = [&](Rank peer) { return world_rank(plan, *group_of(operation), peer) == plan.me; };
    Bytes const messages = messages_of_block(operation);
    for (Block const& block : sent_blocks(operation)) {
        Bytes const bytes = messages * block.bytes;
        traffic.payload += bytes;
        traffic.send_total += bytes;
        (is_me(block.peer) ? traffic.self : traffic.out) += bytes;
        traffic.messages += is_me(block.peer) ? 0 : messages;
    }
    for (Block const& block : received_blocks(operation)) {
        traffic.recv_total += messages * block.bytes;
        traffic.in += is_me(block.peer) ? 0 : messages * block.bytes;
    }
    std::visit(CollectiveTraffic{traffic, plan}, operation);
}

double max_over_mean(Bytes largest, double sum, std::size_t count) {
    return sum > 0 ? static_cast<double>(largest) * static_cast<double>(count) / sum : 1.0;
}

}  // namespace

RankTraffic traffic_of(Plan const& plan, std::string_view phase) {
    RankTraffic traffic;
    for (Step const& step : plan.steps) {
        if (phase.empty() || phase_of(step.label) == phase) {
            add(traffic, plan, step.operation);
        }
    }
    return traffic;
}

RankTraffic traffic_of_step(Plan const& plan, StepId step) {
    RankTraffic traffic;
    add(traffic, plan, plan.steps.at(step).operation);
    return traffic;
}

TrafficSummary summarize(std::span<RankTraffic const> ranks) {
    TrafficSummary summary;
    Bytes max_out = 0;
    Bytes max_in = 0;
    double sum_in = 0;
    double sum_busier = 0;
    for (RankTraffic const& rank : ranks) {
        summary.payload_bytes += rank.payload;
        summary.wire_bytes += rank.out;
        summary.self_bytes += rank.self;
        summary.largest_total_bytes = std::max({summary.largest_total_bytes, rank.send_total, rank.recv_total});
        max_out = std::max(max_out, rank.out);
        max_in = std::max(max_in, rank.in);
        sum_in += static_cast<double>(rank.in);
        sum_busier += static_cast<double>(std::max(rank.out, rank.in));
    }
    summary.busiest_rank_bytes = std::max(max_out, max_in);
    summary.balanced_rank_bytes = ranks.empty() ? 0 : sum_busier / static_cast<double>(ranks.size());
    summary.imbalance_send = max_over_mean(max_out, static_cast<double>(summary.wire_bytes), ranks.size());
    summary.imbalance_recv = max_over_mean(max_in, sum_in, ranks.size());
    return summary;
}

Bandwidth bandwidth(TrafficSummary const& traffic, double time_ns) {
    if (!(time_ns > 0)) {
        return {};
    }
    // One byte per nanosecond is 10^9 bytes per second.
    return {.algbw_GBps = static_cast<double>(traffic.largest_total_bytes) / time_ns,
            .busbw_GBps = static_cast<double>(traffic.busiest_rank_bytes) / time_ns,
            .aggregate_GBps = static_cast<double>(traffic.wire_bytes) / time_ns};
}

void add_sent_bytes(Plan const& plan, std::string_view phase, std::span<Bytes> row) {
    for (Step const& step : plan.steps) {
        if (!phase.empty() && phase_of(step.label) != phase) {
            continue;
        }
        for (Block const& block : sent_blocks(step.operation)) {
            row[static_cast<std::size_t>(world_rank(plan, *group_of(step.operation), block.peer))] +=
                messages_of_block(step.operation) * block.bytes;
        }
    }
}

bool has_uneven_shares(Operation const& operation) {
    return std::visit(
        [](auto const& step) {
            if constexpr (requires { step.shares; }) {
                return std::any_of(step.shares.begin(), step.shares.end(),
                                   [&](Bytes each) { return each != step.shares.front(); });
            } else {
                return false;
            }
        },
        operation);
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/traffic.hpp"

#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/messages.hpp"

#include <algorithm>

namespace dlmb {
namespace {

/// Adds what a collective moves. What a rank passes on of a broadcast or a reduction does not count.
struct CollectiveTraffic {
    RankTraffic& traffic;
    Plan const& plan;

    void operator()(Collective const& step) const {
        CollectiveSides const sides = sides_of(plan, step);
        Bytes const ranks = plan.groups[step.group].members.size();
        Rank const me = rank_in(plan.groups[step.group], plan.me).value();
        // The rank so many further on in the ring of the group.
        auto const around = [&](Rank further) {
            return (me + static_cast<Rank>(ranks) + further) % static_cast<Rank>(ranks);
        };
        double const all_but_one_share =
            static_cast<double>(step.bytes) * (static_cast<double>(ranks) - 1) / static_cast<double>(ranks);
        if (step.kind == OperationKind::all_reduce) {
            auto const chunk = [&](Rank further) { return ring_chunk(step, ranks, around(further)); };
            Bytes const out = 2 * step.bytes - chunk(0) - chunk(1);
            Bytes const in = 2 * step.bytes - chunk(0) - chunk(-1);
            add(step.bytes, step.bytes, out, in);
            add_optimal(2 * all_but_one_share, out, 2 * all_but_one_share, in);
        } else if (step.kind == OperationKind::all_gather) {
            Bytes const out = sides.part * (ranks - 1);
            add(step.bytes, step.bytes, out, step.bytes - sides.part);
            add_optimal(all_but_one_share, out, 0, 0);
        } else if (step.kind == OperationKind::reduce_scatter) {
            Bytes const in = step.bytes - shares_of(plan, step).of(around(-1));
            add(step.bytes, step.bytes, step.bytes - sides.part, in);
            add_optimal(0, 0, all_but_one_share, in);
        } else {
            bool const parts = has_parts(step.kind);
            Bytes const others = parts ? step.bytes - sides.part : ranks > 1 ? step.bytes : 0;
            Bytes const moved = sides.is_root ? others : parts ? sides.part : step.bytes;
            bool const goes_out = (facts_of(step.kind).root == RootRole::sends) == sides.is_root;
            add(sides.sent, sides.received, goes_out ? moved : 0, goes_out ? 0 : moved);
        }
        traffic.self += has_parts(step.kind) && (!has_root(step.kind) || sides.is_root) ? sides.part : 0;
    }
    template <class Other>
    void operator()(Other const& /*step*/) const {}

private:
    void add(Bytes sent, Bytes received, Bytes out, Bytes in) const {
        traffic.payload += sent;
        traffic.send_total += sent;
        traffic.recv_total += received;
        traffic.out += out;
        traffic.in += in;
    }
    void add_optimal(double optimal_out, Bytes out, double optimal_in, Bytes in) const {
        traffic.optimal_out += optimal_out - static_cast<double>(out);
        traffic.optimal_in += optimal_in - static_cast<double>(in);
    }
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
    if (std::holds_alternative<Put>(operation)) {
        auto const signals = signals_of(operation);
        traffic.messages += static_cast<Bytes>(
            std::count_if(signals.begin(), signals.end(), [&](Signal const& signal) { return !is_me(signal.peer); }));
    }
    std::visit(CollectiveTraffic{traffic, plan}, operation);
}

double max_over_mean(double largest, double sum, std::size_t count) {
    return sum > 0 ? largest * static_cast<double>(count) / sum : 1.0;
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
    Bytes wire_out = 0;
    Bytes wire_in = 0;
    double max_out = 0;
    double max_in = 0;
    double sum_out = 0;
    double sum_in = 0;
    double sum_busier = 0;
    for (RankTraffic const& rank : ranks) {
        summary.payload_bytes += rank.payload;
        wire_out += rank.out;
        wire_in += rank.in;
        summary.self_bytes += rank.self;
        summary.largest_total_bytes = std::max({summary.largest_total_bytes, rank.send_total, rank.recv_total});
        double const out = static_cast<double>(rank.out) + rank.optimal_out;
        double const in = static_cast<double>(rank.in) + rank.optimal_in;
        max_out = std::max(max_out, out);
        max_in = std::max(max_in, in);
        sum_out += out;
        sum_in += in;
        sum_busier += std::max(out, in);
    }
    summary.wire_bytes = std::max(wire_out, wire_in);
    summary.busiest_rank_bytes = std::max(max_out, max_in);
    summary.balanced_rank_bytes = ranks.empty() ? 0 : sum_busier / static_cast<double>(ranks.size());
    summary.imbalance_send = max_over_mean(max_out, sum_out, ranks.size());
    summary.imbalance_recv = max_over_mean(max_in, sum_in, ranks.size());
    return summary;
}

Bandwidth bandwidth(TrafficSummary const& traffic, double time_ns) {
    if (!(time_ns > 0)) {
        return {};
    }
    // One byte per nanosecond is 10^9 bytes per second.
    return {.algbw_GBps = static_cast<double>(traffic.largest_total_bytes) / time_ns,
            .busbw_GBps = traffic.busiest_rank_bytes / time_ns,
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
    auto const* step = std::get_if<Collective>(&operation);
    return step != nullptr && std::any_of(step->shares.begin(), step->shares.end(),
                                          [&](Bytes each) { return each != step->shares.front(); });
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/traffic.hpp"

#include <algorithm>

namespace dlmb {
namespace {

/// floor(times * bytes * (ranks - 1) / ranks), without the product that could overflow: bytes = q * ranks + r.
Bytes all_but_own_share(Bytes times, Bytes bytes, Bytes ranks) {
    Bytes const others = times * (ranks - 1);
    return bytes / ranks * others + bytes % ranks * others / ranks;
}

class Counter {
public:
    explicit Counter(Plan const& plan) : plan_(plan) {}

    void operator()(Exchange const& exchange) {
        std::vector<Rank> const& members = plan_.groups.at(exchange.group).members;
        for (Block const& block : exchange.send) {
            send(members, block);
        }
        for (Block const& block : exchange.recv) {
            recv(members, block);
        }
    }
    void operator()(Send const& step) { send(plan_.groups.at(step.group).members, step.to); }
    void operator()(Recv const& step) { recv(plan_.groups.at(step.group).members, step.from); }
    void operator()(AllReduce const& step) { collective(2, step.bytes, step.group); }
    void operator()(ReduceScatter const& step) { collective(1, step.bytes, step.group); }
    void operator()(AllGather const& step) { collective(1, step.bytes, step.group); }
    void operator()(Broadcast const& step) {
        std::vector<Rank> const& members = plan_.groups.at(step.group).members;
        Bytes const moved = members.size() > 1 ? step.bytes : 0;
        if (members.at(static_cast<std::size_t>(step.root)) == plan_.me) {
            traffic_.payload += step.bytes;
            traffic_.send_total += step.bytes;
            traffic_.out += moved;
        } else {
            traffic_.recv_total += step.bytes;
            traffic_.in += moved;
        }
    }
    void operator()(Compute const& /*step*/) {}

    [[nodiscard]] RankTraffic const& traffic() const { return traffic_; }

private:
    [[nodiscard]] bool is_me(std::vector<Rank> const& members, Rank peer) const {
        return members.at(static_cast<std::size_t>(peer)) == plan_.me;
    }
    void send(std::vector<Rank> const& members, Block const& block) {
        traffic_.payload += block.bytes;
        traffic_.send_total += block.bytes;
        if (is_me(members, block.peer)) {
            traffic_.self += block.bytes;
        } else {
            traffic_.out += block.bytes;
            ++traffic_.messages;
        }
    }
    void recv(std::vector<Rank> const& members, Block const& block) {
        traffic_.recv_total += block.bytes;
        if (!is_me(members, block.peer)) {
            traffic_.in += block.bytes;
        }
    }
    void collective(Bytes times, Bytes bytes, GroupId group) {
        Bytes const moved = all_but_own_share(times, bytes, plan_.groups.at(group).members.size());
        traffic_.payload += bytes;
        traffic_.send_total += bytes;
        traffic_.recv_total += bytes;
        traffic_.out += moved;
        traffic_.in += moved;
    }

    Plan const& plan_;
    RankTraffic traffic_;
};

double max_over_mean(Bytes largest, double sum, std::size_t count) {
    return sum > 0 ? static_cast<double>(largest) * static_cast<double>(count) / sum : 1.0;
}

}  // namespace

RankTraffic traffic_of(Plan const& plan, std::string_view phase) {
    Counter counter(plan);
    for (Step const& step : plan.steps) {
        if (phase.empty() || phase_of(step.label) == phase) {
            std::visit(counter, step.operation);
        }
    }
    return counter.traffic();
}

RankTraffic traffic_of_step(Plan const& plan, StepId step) {
    Counter counter(plan);
    std::visit(counter, plan.steps.at(step).operation);
    return counter.traffic();
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
    auto const add = [&](GroupId group, Block const& block) {
        Rank const to = plan.groups.at(group).members.at(static_cast<std::size_t>(block.peer));
        row[static_cast<std::size_t>(to)] += block.bytes;
    };
    for (Step const& step : plan.steps) {
        if (!phase.empty() && phase_of(step.label) != phase) {
            continue;
        }
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            for (Block const& block : exchange->send) {
                add(exchange->group, block);
            }
        } else if (auto const* send = std::get_if<Send>(&step.operation)) {
            add(send->group, send->to);
        }
    }
}

TrafficMatrix traffic_matrix(std::span<Plan const> all_ranks, std::string_view phase) {
    std::size_t const ranks = all_ranks.size();
    TrafficMatrix matrix{static_cast<int>(ranks), std::vector<Bytes>(ranks * ranks, 0)};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        add_sent_bytes(all_ranks[rank], phase, std::span(matrix.bytes).subspan(rank * ranks, ranks));
    }
    return matrix;
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/traffic_setup.hpp"

#include "common/base/hash.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/arrivals.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/measure/sampling/phases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::run {
namespace {

std::vector<SetupCounts> exchange_counts(Bootstrap& bootstrap, std::span<SetupCounts const> to_send) {
    std::vector<PeerBlob> outgoing;
    outgoing.reserve(to_send.size());
    for (SetupCounts const& each : to_send) {
        auto const bytes = std::as_bytes(std::span(each.counts));
        outgoing.push_back({each.to, {bytes.begin(), bytes.end()}});
    }
    std::vector<SetupCounts> received_counts;
    for (PeerBlob const& each : bootstrap.exchange(std::move(outgoing))) {
        std::vector<std::uint64_t> counts(each.blob.size() / sizeof(std::uint64_t));
        std::copy(each.blob.begin(), each.blob.end(), std::as_writable_bytes(std::span(counts)).begin());
        received_counts.push_back({each.peer, bootstrap.rank(), std::move(counts)});
    }
    return received_counts;
}

std::vector<Statistic> statistics_over_ranks(Bootstrap& bootstrap, Pattern const& pattern,
                                             std::vector<std::uint64_t> const& mine) {
    std::vector<std::int64_t> sums(mine.begin(), mine.end());
    bootstrap.all_reduce(sums, Fold::sum);
    std::vector<std::uint64_t> const summed(sums.begin(), sums.end());
    return pattern.statistics(summed);
}

/// Byte counts round to the nearest whole byte.
TrafficSummary mean(std::span<TrafficSummary const> draws) {
    TrafficSummary result;
    result.imbalance_send = 0;
    result.imbalance_recv = 0;
    auto const count = static_cast<double>(draws.size());
    auto const half = draws.size() / 2;
    for (TrafficSummary const& draw : draws) {
        result.payload_bytes += draw.payload_bytes;
        result.wire_bytes += draw.wire_bytes;
        result.self_bytes += draw.self_bytes;
        result.busiest_rank_bytes += draw.busiest_rank_bytes / count;
        result.largest_total_bytes += draw.largest_total_bytes;
        result.balanced_rank_bytes += draw.balanced_rank_bytes / count;
        result.imbalance_send += draw.imbalance_send / count;
        result.imbalance_recv += draw.imbalance_recv / count;
    }
    for (Bytes* sum : {&result.payload_bytes, &result.wire_bytes, &result.self_bytes, &result.largest_total_bytes}) {
        *sum = (*sum + half) / draws.size();
    }
    return result;
}

/// Messages between ranks in one iteration, mean over draws, and how uneven their numbers are. Nothing of plans of
/// collectives alone: how many messages these take is the library's matter.
void add_messages(Bootstrap& bootstrap, std::span<Plan const> plans, std::map<std::string, double>& statistics) {
    double total = 0;
    double imbalance = 0;
    for (Plan const& plan : plans) {
        double largest = 0;
        double sum = 0;
        std::vector<RankTraffic> const ranks = from_every_rank(bootstrap, traffic_of(plan));
        for (RankTraffic const& rank : ranks) {
            largest = std::max(largest, static_cast<double>(rank.messages));
            sum += static_cast<double>(rank.messages);
        }
        total += sum;
        imbalance += sum > 0 ? largest * static_cast<double>(ranks.size()) / sum : 1;
    }
    if (total > 0) {
        statistics["messages_total"] = total / static_cast<double>(plans.size());
        statistics["max_mean_messages"] = imbalance / static_cast<double>(plans.size());
    }
}

bool has_phase(Plan const& plan, std::string_view phase) {
    return std::any_of(plan.steps.begin(), plan.steps.end(),
                       [&](Step const& step) { return phase_of(step.label) == phase; });
}

/// Steps of this plan whose data lies in shared buffers, so that nobody can check it afterwards.
std::int64_t unchecked_steps(Plan const& plan) {
    auto const is_shared = [&](BufferId buffer) { return plan.buffers[buffer].shared; };
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
        return std::visit(
            [&](auto const& operation) {
                if constexpr (requires { operation.recv_buffer; }) {
                    return is_shared(operation.recv_buffer);
                } else if constexpr (requires { operation.buffer; }) {
                    return is_shared(operation.buffer);
                } else if constexpr (requires { operation.recv.buffer; }) {
                    return is_shared(operation.recv.buffer);
                } else {
                    return false;
                }
            },
            step.operation);
    });
}

/// Without the waiting for requests to arrive.
Nanoseconds computed_ns(Plan const& plan) {
    Nanoseconds sum = 0;
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        sum += compute == nullptr || is_arrival(step) ? 0 : compute->busy_ns;
    }
    return sum;
}

Plan without_compute_times(Plan plan) {
    for (Step& step : plan.steps) {
        if (auto* const compute = std::get_if<Compute>(&step.operation)) {
            compute->busy_ns = 0;
        }
    }
    return plan;
}

}  // namespace

std::string hash_of(Bootstrap& bootstrap, std::span<Plan const> plans, ComputeTimes times) {
    std::uint64_t mine = fnv1a_start;
    for (Plan const& plan : plans) {
        PlanWriter writer({}, [&](std::string_view line) { mine = fnv1a(mine, line); });
        if (times == ComputeTimes::counted) {
            writer.write(plan);
        } else {
            writer.write(without_compute_times(plan));
        }
    }
    std::uint64_t all = fnv1a_start;
    for (std::uint64_t const each : from_every_rank(bootstrap, mine)) {
        all = fnv1a(all, each);
    }
    return hex_digits(all);
}

Traffic prepare_traffic(Bootstrap& bootstrap, Pattern const& pattern, std::span<std::string_view const> phases,
                        std::uint64_t seed, std::uint32_t draws, std::function<void()> const& each) {
    Traffic traffic;
    traffic.osu = pattern.osu_program();
    for (std::uint32_t index = 0; index < draws; ++index) {
        Draw const draw{seed, index};
        RankSetup const own = pattern.setup_of(bootstrap.rank(), draw);
        std::vector<SetupCounts> const received_counts = exchange_counts(bootstrap, own.counts_to_send);
        traffic.plans.push_back(pattern.build(bootstrap.rank(), draw, own, received_counts));
        for (Statistic const& statistic : statistics_over_ranks(bootstrap, pattern, own.statistics)) {
            if (statistic.over_draws != OverDraws::mean && draws > 1) {
                traffic.statistics[fmt::format("{}.draw_{}", statistic.name, index)] = statistic.value;
            }
            if (statistic.over_draws != OverDraws::each || draws == 1) {
                traffic.statistics[statistic.name] += statistic.value / draws;
            }
        }
        each();
    }
    auto const summary = [&](Plan const& plan, std::string_view phase) {
        each();
        return summarize(from_every_rank(bootstrap, traffic_of(plan, phase)));
    };
    std::vector<TrafficSummary> totals;
    std::int64_t unchecked = 0;
    double compute_ns = 0;
    for (Plan const& plan : traffic.plans) {
        totals.push_back(summary(plan, ""));
        std::array<std::int64_t, 2> most{unchecked_steps(plan), computed_ns(plan)};
        bootstrap.all_reduce(most, Fold::max);
        unchecked = std::max(unchecked, most[0]);
        compute_ns += static_cast<double>(most[1]) / draws;
    }
    traffic.total = mean(totals);
    add_messages(bootstrap, traffic.plans, traffic.statistics);
    if (unchecked > 0) {
        traffic.statistics["unchecked_steps"] = static_cast<double>(unchecked);
    }
    if (compute_ns > 0) {
        traffic.statistics["compute_us"] = compute_ns / nanoseconds_per_microsecond;
    }
    // Where the pattern does not know its phases the plans of all ranks tell them.
    std::vector<std::string> const found =
        phases.empty() ? measure::PhaseMap(bootstrap, traffic.plans).labels() : std::vector<std::string>();
    std::vector<std::string_view> const known = phases.empty()
                                                    ? std::vector<std::string_view>(found.begin(), found.end())
                                                    : std::vector<std::string_view>(phases.begin(), phases.end());
    // The ranks of different pipeline stages do different things, and plans of a folder differ by the iteration. The
    // time of a phase is that of iterations that have it, and so is its traffic.
    for (std::string_view const phase : known) {
        std::vector<TrafficSummary> summaries;
        for (Plan const& plan : traffic.plans) {
            if (any_rank(bootstrap, has_phase(plan, phase))) {
                summaries.push_back(summary(plan, phase));
            }
        }
        if (!summaries.empty()) {
            traffic.phases.push_back({std::string(phase), mean(summaries)});
        }
    }
    return traffic;
}

}  // namespace dlmb::run

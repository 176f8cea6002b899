// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/rank_log.hpp"

#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/diagnosis/suspects.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/plan/ready_queue.hpp"
#include "common/plan/traffic.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::measure {
namespace {

double quartile_range(std::vector<Nanoseconds> values) {
    std::sort(values.begin(), values.end());
    return static_cast<double>(nearest_rank(values, 75) - nearest_rank(values, 25));
}

struct OwnFigures {
    double enter = 0;
    double done = 0;
    double spread = 0;
    RankConduct conduct;
};

Bytes posted_bytes(Plan const& plan) {
    Bytes bytes = 0;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        bytes += plan.steps[step].after.empty() ? traffic_of_step(plan, step).send_total : 0;
    }
    return bytes;
}

RankConduct load_of(std::span<Plan const> draws) {
    RankConduct conduct;
    for (Plan const& draw : draws) {
        conduct.sent_bytes += static_cast<double>(traffic_of(draw).send_total);
        conduct.posted_bytes += static_cast<double>(posted_bytes(draw));
        conduct.steps_in_turn = std::max<std::uint64_t>(conduct.steps_in_turn, longest_chain(draw));
    }
    return conduct;
}

}  // namespace

void RankLog::keep(Chunk const& chunk) {
    for (std::size_t i = 0; i < chunk.own.size(); ++i) {
        RankMarks const& own = chunk.own[i];
        SampleTimes const& all = chunk.samples[i];
        enter_.push_back(own.enter - all.first_enter);
        posted_.push_back(own.posted - own.enter);
        waited_.push_back(own.done - own.posted);
        done_.push_back(own.done - own.enter);
        skew_.push_back(all.skew);
        last_arrival_.push_back(all.last_arrival);
        imbalance_time_.push_back(all.imbalance_time);
    }
}

void RankLog::summarize(Bootstrap& bootstrap, std::span<Plan const> draws, bool launch_blocks,
                        CellResult& result) const {
    if (done_.empty()) {
        return;
    }
    auto const iterations = static_cast<double>(result.iterations_per_sample);
    OwnFigures mine{median(enter_), median(done_) / iterations, quartile_range(done_) / iterations, load_of(draws)};
    mine.conduct.posted_ns = median(posted_);
    mine.conduct.waited_ns = median(waited_);
    mine.conduct.posted_spread_ns = spread_over_draws(posted_, draws.size());
    mine.conduct.done_spread_ns = spread_over_draws(done_, draws.size());
    mine.conduct.launch_blocks = launch_blocks ? 1 : 0;
    std::vector<Blob> const all = bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)));
    if (bootstrap.rank() != deciding_rank) {
        return;
    }
    std::vector<RankConduct> conducts;
    for (Blob const& blob : all) {
        OwnFigures rank;
        std::memcpy(&rank, blob.data(), sizeof rank);
        result.ranks.enter_ns.push_back(rank.enter);
        result.ranks.posted_ns.push_back(rank.conduct.posted_ns);
        result.rank_median_ns.push_back(rank.done);
        result.ranks.spread_ns.push_back(rank.spread);
        conducts.push_back(rank.conduct);
    }
    if (result.iterations_per_sample == 1) {
        result.suspects = find_suspects(conducts, result.time.median, done_.size());
    }
    TimeSummary const skew = measure::summarize(skew_);
    result.arrival = {skew.median, skew.p99, median(last_arrival_), median(imbalance_time_)};
}

namespace {

// In the order in which one rank's word outweighs another's.
constexpr std::int64_t at_full_speed = 0;
constexpr std::int64_t not_known = 1;
constexpr std::int64_t held_down = 2;

}  // namespace

void ThrottleLog::look() {
    if (gpu_ == nullptr) {
        return;
    }
    if (auto const now = gpu_->now()) {
        seen_ = seen_.value_or(false) || *now;
    }
}

std::optional<bool> ThrottleLog::over_ranks(Bootstrap& bootstrap) const {
    std::int64_t const mine = !seen_ ? not_known : *seen_ ? held_down : at_full_speed;
    std::int64_t const all = reduce_over_ranks(bootstrap, mine, Fold::max);
    return all == not_known ? std::nullopt : std::optional(all == held_down);
}

}  // namespace dlmb::measure

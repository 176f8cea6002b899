// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/rank_log.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/ready_queue.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/measure/sampling/summaries.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t samples_for_delay = 5;
constexpr std::uint64_t samples_for_jitter = 20;
constexpr double peer_share = 0.9;   // of a rank's load
constexpr double delay_share = 0.5;  // of a step's time, which has the delay in it
constexpr double times_more = 3;
constexpr double least_excess_ns = 1000;
constexpr double waited_share = 0.8;  // of a delay, by a rank that launched before it was over

using RankFigure = double RankTimings::*;

/// A way to stand out.
struct Criterion {
    record::Suspect::Kind kind = record::Suspect::Kind::delayed;
    RankFigure figure = nullptr;
    RankFigure load = nullptr;  // what makes it larger
    double excess_ns = 0;
    RankFigure effect = nullptr;  // what it must cause at another rank, not at all: a neighbour in a ring is enough
};

/// The lower of two middle values: of two peers one may be a suspect itself. Nothing without peers.
std::optional<double> median_of_peers(std::span<RankTimings const> ranks, std::size_t rank,
                                      Criterion const& criterion) {
    std::vector<double> figures;
    for (std::size_t other = 0; other < ranks.size(); ++other) {
        if (other != rank && ranks[other].*criterion.load >= peer_share * (ranks[rank].*criterion.load)) {
            figures.push_back(ranks[other].*criterion.figure);
        }
    }
    if (figures.empty()) {
        return std::nullopt;
    }
    auto const middle = figures.begin() + static_cast<std::ptrdiff_t>((figures.size() - 1) / 2);
    std::nth_element(figures.begin(), middle, figures.end());
    return *middle;
}

/// Adds the ranks that stand out to `found`, by rank; of two findings about one rank that with the larger excess stays.
void add_suspects(std::span<RankTimings const> ranks, Criterion const& criterion,
                  std::map<std::size_t, record::Suspect>& found) {
    double const least_excess = std::max(least_excess_ns, criterion.excess_ns);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        double const own = ranks[rank].*criterion.figure;
        if (own <= least_excess) {
            continue;  // of thousands of ranks nearly all
        }
        std::optional<double> const others = median_of_peers(ranks, rank, criterion);
        if (!others || own - *others <= least_excess || own <= times_more * *others) {
            continue;
        }
        double const excess = own - *others;
        bool const has_effect =
            criterion.effect == nullptr || std::any_of(ranks.begin(), ranks.end(), [&](RankTimings const& other) {
                return &other != &ranks[rank] && other.*criterion.effect >= waited_share * excess;
            });
        if (has_effect) {
            record::Suspect const suspect{static_cast<Rank>(rank), criterion.kind, own, *others};
            record::Suspect& kept = found.try_emplace(rank, suspect).first->second;
            kept = excess > kept.ns - kept.others_ns ? suspect : kept;
        }
    }
}

}  // namespace

double spread_over_draws(std::span<Nanoseconds const> times, std::size_t draws) {
    std::vector<Nanoseconds> residuals;
    std::vector<Nanoseconds> of_draw;
    for (std::size_t draw = 0; draw < std::min(draws, times.size()); ++draw) {
        of_draw.clear();
        for (std::size_t i = draw; i < times.size(); i += draws) {
            of_draw.push_back(times[i]);
        }
        auto const middle = static_cast<Nanoseconds>(statistics::median(of_draw));
        std::transform(of_draw.begin(), of_draw.end(), std::back_inserter(residuals),
                       [&](Nanoseconds time) { return time - middle; });
    }
    std::sort(residuals.begin(), residuals.end());
    return static_cast<double>(statistics::nearest_rank(residuals, 95) - statistics::nearest_rank(residuals, 5));
}

std::vector<record::Suspect> find_suspects(std::span<RankTimings const> ranks, double headline_ns,
                                           std::uint64_t samples) {
    std::uint64_t steps_in_turn = 1;
    double waited_for = headline_ns;
    bool launches_tell = true;
    for (RankTimings const& rank : ranks) {
        steps_in_turn = std::max(steps_in_turn, rank.steps_in_turn);
        waited_for = std::max({waited_for, rank.posted_ns, rank.posted_spread_ns});
        launches_tell = launches_tell && rank.launch_blocks == 0;
    }
    std::map<std::size_t, record::Suspect> found;
    if (launches_tell && samples >= samples_for_delay) {
        double const step_ns = headline_ns / static_cast<double>(steps_in_turn);
        add_suspects(ranks,
                     {record::Suspect::Kind::delayed, &RankTimings::posted_ns, &RankTimings::posted_bytes,
                      delay_share * step_ns, &RankTimings::waited_ns},
                     found);
    }
    if (launches_tell && samples >= samples_for_jitter) {
        add_suspects(ranks,
                     {record::Suspect::Kind::jittery, &RankTimings::posted_spread_ns, &RankTimings::posted_bytes,
                      headline_ns, &RankTimings::done_spread_ns},
                     found);
    }
    if (samples >= samples_for_jitter) {
        add_suspects(ranks,
                     {record::Suspect::Kind::jittery, &RankTimings::done_spread_ns, &RankTimings::sent_bytes,
                      waited_for, nullptr},
                     found);
    }
    std::vector<record::Suspect> suspects;
    for (auto const& [rank, suspect] : found) {
        suspects.push_back(suspect);
    }
    return suspects;
}

namespace {

double quartile_range(std::vector<Nanoseconds> values) {
    std::sort(values.begin(), values.end());
    return static_cast<double>(statistics::nearest_rank(values, 75) - statistics::nearest_rank(values, 25));
}

struct RankReport {
    double enter = 0;
    double done = 0;
    double spread = 0;
    RankTimings timings;
};

RankTimings load_of(std::span<Plan const> draws) {
    RankTimings timings;
    for (Plan const& draw : draws) {
        timings.sent_bytes += static_cast<double>(traffic_of(draw).send_total);
        for (StepId step = 0; step < draw.steps.size(); ++step) {
            if (draw.steps[step].after.empty()) {
                timings.posted_bytes += static_cast<double>(traffic_of_step(draw, step).send_total);
            }
        }
        timings.steps_in_turn = std::max<std::uint64_t>(timings.steps_in_turn, longest_chain(draw));
    }
    return timings;
}

}  // namespace

void RankLog::keep(SampleChunk const& chunk) {
    for (std::size_t i = 0; i < chunk.own.size(); ++i) {
        RankMarks const& own = chunk.own[i];
        SampleTimes const& all = chunk.samples[i];
        enter_.push_back(own.enter - all.first_enter);
        posted_.push_back(own.posted - own.enter);
        queued_.push_back(own.queued - own.enter);
        waited_.push_back(own.done - own.posted);
        done_.push_back(own.done - own.enter);
        skew_.push_back(all.skew);
        last_arrival_.push_back(all.last_arrival);
        imbalance_time_.push_back(all.imbalance_time);
    }
}

double RankLog::mean_ns() const {
    double const sum = std::accumulate(done_.begin(), done_.end(), 0.0, [](double before, Nanoseconds time) {
        return before + static_cast<double>(time);
    });
    return done_.empty() ? 0 : sum / static_cast<double>(done_.size());
}

// A host that is ahead of its device waits for it at the end, or earlier where the queue is full: at least as long as
// the queue takes. One that is behind finds all but the last iteration done.
record::Queueing RankLog::queueing(Bootstrap& bootstrap, std::uint64_t iterations) const {
    constexpr double host_bound_share = 0.9;
    double const queued = statistics::median(queued_);
    bool const bound = queued > host_bound_share * statistics::median(done_);
    std::vector<double> const all = from_every_rank(bootstrap, queued / static_cast<double>(iterations));
    double const sum = std::accumulate(all.begin(), all.end(), 0.0);
    return {sum / static_cast<double>(all.size()), any_rank(bootstrap, bound)};
}

void RankLog::summarize(Bootstrap& bootstrap, std::span<Plan const> draws, bool launch_blocks,
                        record::CellResult& result) const {
    if (done_.empty()) {
        return;
    }
    auto const iterations = static_cast<double>(result.iterations_per_sample);
    RankReport mine{statistics::median(enter_), statistics::median(done_) / iterations,
                    quartile_range(done_) / iterations, load_of(draws)};
    mine.timings.posted_ns = statistics::median(posted_);
    mine.timings.waited_ns = statistics::median(waited_);
    mine.timings.posted_spread_ns = spread_over_draws(posted_, draws.size());
    mine.timings.done_spread_ns = spread_over_draws(done_, draws.size());
    mine.timings.launch_blocks = launch_blocks ? 1 : 0;
    std::vector<RankReport> const all = from_every_rank(bootstrap, mine);
    if (bootstrap.rank() != deciding_rank) {
        return;
    }
    std::vector<RankTimings> timings;
    for (RankReport const& rank : all) {
        result.ranks.enter_ns.push_back(rank.enter);
        result.ranks.posted_ns.push_back(rank.timings.posted_ns);
        result.rank_median_ns.push_back(rank.done);
        result.ranks.spread_ns.push_back(rank.spread);
        timings.push_back(rank.timings);
    }
    if (result.iterations_per_sample == 1) {
        result.suspects = find_suspects(timings, result.time.median, done_.size());
    }
    record::TimeSummary const skew = measure::summarize(skew_);
    result.arrival = {skew.median, skew.p99, statistics::median(last_arrival_), statistics::median(imbalance_time_)};
}

namespace {

// In the order in which one rank's word outweighs another's.
constexpr std::int64_t at_full_speed = 0;
constexpr std::int64_t not_known = 1;
constexpr std::int64_t held_down = 2;

}  // namespace

void ThrottleLog::ask() {
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

void QuotaLog::end() {
    record::QuotaUse const now = read();
    seen_.periods += now.periods - before_.periods;
    seen_.throttled += now.throttled - before_.throttled;
    seen_.throttled_ns += now.throttled_ns - before_.throttled_ns;
}

std::optional<record::QuotaUse> QuotaLog::over_ranks(Bootstrap& bootstrap) const {
    std::array<std::int64_t, 3> most{static_cast<std::int64_t>(seen_.periods),
                                     static_cast<std::int64_t>(seen_.throttled), seen_.throttled_ns};
    bootstrap.all_reduce(most, Fold::max);
    auto const [periods, throttled, throttled_ns] = most;
    if (periods == 0 && throttled == 0) {
        return std::nullopt;
    }
    return record::QuotaUse{static_cast<std::uint64_t>(periods), static_cast<std::uint64_t>(throttled), throttled_ns};
}

}  // namespace dlmb::measure

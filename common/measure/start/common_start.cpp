// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/start/common_start.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t judged_least = 20;     // samples; one late of fewer is more than 5 % by chance
constexpr std::uint64_t late_one_in = 20;      // 5 %
constexpr Nanoseconds progress_most = 10'000;  // so long before the start this rank may still be inside a library

}  // namespace

SampleStart::SampleStart(Bootstrap& bootstrap, CommonClock const& clock, StartPlan const& plan, bool yield)
    : bootstrap_(&bootstrap), clock_(&clock), plan_(plan), idle_(yield) {}

void SampleStart::wait() {
    if (plan_.method == StartMethod::barrier) {
        bootstrap_->barrier();
        return;
    }
    Nanoseconds const start = bootstrap_->barrier_max(clock_->now()) + plan_.margin_ns;
    Nanoseconds now = clock_->now();
    was_late_ = now >= start;
    for (; now < start; now = clock_->now()) {
        if (start - now > progress_most) {
            bootstrap_->progress();  // a peer may still be in the barrier and need what this rank's library holds
        }
        idle_();
    }
}

void SampleStart::note(std::uint64_t late, std::uint64_t taken) {
    late_ += late;
    taken_ += taken;
    if (taken_ >= judged_least && late_ * late_one_in > taken_) {
        plan_.margin_ns = std::min(2 * plan_.margin_ns, margin_most_ns);
        late_ = 0;
        taken_ = 0;
    }
}

namespace {

constexpr std::size_t trials = 40;
constexpr Nanoseconds margin_least_ns = 50'000;
constexpr double margin_over_learning = 3;
constexpr double clock_error_most = 0.05;  // of a sample
constexpr double late_share_most = 0.25;
constexpr Nanoseconds margin_good_most_ns = 1'000'000;  // while ranks wait longer, caches go cold

}  // namespace

StartPlan choose_start(StartRequest request, StartFacts const& facts, double sample_ns) {
    StartPlan plan;
    plan.clock_is_good = static_cast<double>(facts.clock_error_ns) <= clock_error_most * sample_ns;
    bool const can_be_kept =
        !facts.oversubscribed && facts.late_share <= late_share_most && facts.margin_ns <= margin_good_most_ns;
    if (request == StartRequest::window || (request == StartRequest::automatic && plan.clock_is_good && can_be_kept)) {
        plan.method = StartMethod::window;
        plan.margin_ns = facts.margin_ns;
    }
    return plan;
}

CommonStart::CommonStart(Bootstrap& bootstrap, StartRequest request, ClockOptions clock)
    : bootstrap_(bootstrap), request_(request), clock_(bootstrap, std::move(clock)) {
    facts_.oversubscribed = dlmb::oversubscribed(bootstrap_);
    measure_margin();
    try_out();
}

// From the last rank's arrival until this rank knows of it.
void CommonStart::measure_margin() {
    std::vector<Nanoseconds> learning;
    for (std::size_t trial = 0; trial < trials; ++trial) {
        Nanoseconds const last_arrival = bootstrap_.barrier_max(clock_.now());
        learning.push_back(clock_.now() - last_arrival);
    }
    auto const typical = static_cast<Nanoseconds>(margin_over_learning * statistics::median(learning));
    facts_.margin_ns =
        std::clamp(reduce_over_ranks(bootstrap_, typical, Fold::max), margin_least_ns, SampleStart::margin_most_ns);
}

void CommonStart::try_out() {
    SampleStart start(bootstrap_, clock_, {StartMethod::window, facts_.margin_ns, true}, facts_.oversubscribed);
    std::vector<std::int64_t> late;
    for (std::size_t trial = 0; trial < trials; ++trial) {
        start.wait();
        late.push_back(start.was_late() ? 1 : 0);
    }
    bootstrap_.all_reduce(late, Fold::max);
    facts_.late_share = static_cast<double>(std::count(late.begin(), late.end(), 1)) / static_cast<double>(trials);
}

StartPlan CommonStart::plan(double sample_ns) {
    facts_.clock_error_ns = reduce_over_ranks(bootstrap_, clock_.error_ns(), Fold::max);
    return from_rank(bootstrap_, choose_start(request_, facts_, sample_ns));
}

}  // namespace dlmb::measure

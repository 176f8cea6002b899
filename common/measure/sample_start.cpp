// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sample_start.hpp"

#include <algorithm>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t judged_least = 20;     // samples; one late of fewer is more than 5 % by chance
constexpr std::uint64_t late_one_in = 20;      // 5 %
constexpr Nanoseconds progress_most = 10'000;  // so long before the start this rank may still be inside a library

}  // namespace

std::string_view name_of(StartMethod method) {
    return method == StartMethod::window ? "window" : "barrier";
}

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

}  // namespace dlmb::measure

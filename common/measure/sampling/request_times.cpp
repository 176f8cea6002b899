// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/request_times.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/arrivals.hpp"
#include "common/formats/plan/transform/overlay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::min();
constexpr std::uint64_t percents[] = {5, 10, 25, 50, 75, 90, 95, 99, 100};

bool serves_request(Step const& step) {
    return step.microbatch >= 0 && !std::holds_alternative<Compute>(step.operation) && !is_arrival(step) &&
           phase_of(step.label) != beside_phase;
}

void append_figures(std::string_view name, std::vector<Nanoseconds> latencies, std::vector<record::Figure>& figures) {
    std::sort(latencies.begin(), latencies.end());
    for (std::uint64_t const percent : percents) {
        auto const value = latencies.empty() ? std::nullopt : statistics::percentile(latencies, percent);
        if (value) {
            figures.push_back({fmt::format("{}_latency_p{}", name, percent), static_cast<double>(*value), "ns",
                               record::Better::lower, "requests"});
        }
    }
}

}  // namespace

RequestMap::RequestMap(Bootstrap& bootstrap, std::span<Plan const> plans, std::span<std::string const> phases) {
    std::vector<std::int64_t> known(2 + phases.size());  // arrivals, requests, and which phases these have
    for (Plan const& plan : plans) {
        for (Step const& step : plan.steps) {
            known[0] += is_arrival(step) ? 1 : 0;
            known[1] = std::max(known[1], std::int64_t{step.microbatch} + 1);
            auto const phase = std::find(phases.begin(), phases.end(), phase_of(step.label));
            if (serves_request(step)) {
                known[static_cast<std::size_t>(2 + (phase - phases.begin()))] = 1;
            }
        }
    }
    bootstrap.all_reduce(known, Fold::max);
    if (known[0] == 0) {
        return;
    }
    requests_ = static_cast<std::size_t>(known[1]);
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        if (known[2 + phase] != 0) {
            phases_.push_back(phases[phase]);
        }
    }
    for (Plan const& plan : plans) {
        std::vector<std::optional<Nanoseconds>> const ends = planned_ends(plan);
        std::vector<StepOfRequest>& steps = steps_.emplace_back();
        for (StepId id = 0; id < plan.steps.size(); ++id) {
            Step const& step = plan.steps[id];
            StepOfRequest& of_request = steps.emplace_back();
            std::size_t const first = static_cast<std::size_t>(std::max(0, step.microbatch)) * (1 + phases_.size());
            if (is_arrival(step)) {
                of_request = {first, ends[id], true};
            } else if (serves_request(step)) {
                auto const phase = std::find(phases_.begin(), phases_.end(), phase_of(step.label));
                of_request.word = first + 1 + static_cast<std::size_t>(phase - phases_.begin());
            }
        }
    }
}

void RequestMap::times(std::size_t draw, std::span<PhaseMark const> marks, Nanoseconds enter, Nanoseconds done,
                       Nanoseconds ahead, std::span<Nanoseconds> words) const {
    std::fill(words.begin(), words.end(), never);
    for (PhaseMark const& mark : marks) {
        StepOfRequest const& step = steps_[draw][mark.step];
        if (!step.word) {
            continue;
        }
        Nanoseconds const end = mark.time_ns == PhaseMark::at_finish ? done : std::clamp(mark.time_ns, enter, done);
        Nanoseconds const time = ahead + (step.planned ? enter + *step.planned : end);
        Nanoseconds& word = words[*step.word];
        word = std::max(word, step.arrives ? -time : time);
    }
}

void RequestLatencies::add(std::span<Nanoseconds const> words) {
    std::size_t const each = 1 + of_phase_.size();
    for (std::size_t first = 0; first + each <= words.size(); first += each) {
        auto const ends = words.subspan(first + 1, each - 1);
        Nanoseconds const last = ends.empty() ? never : *std::max_element(ends.begin(), ends.end());
        if (words[first] == never || last == never) {
            continue;  // nothing arrived, or nothing had to be moved for it
        }
        whole_.push_back(last + words[first]);
        for (std::size_t phase = 0; phase < ends.size(); ++phase) {
            if (ends[phase] != never) {
                of_phase_[phase].push_back(ends[phase] + words[first]);
            }
        }
    }
}

std::vector<record::Figure> RequestLatencies::figures() const {
    std::vector<record::Figure> figures;
    append_figures("request", whole_, figures);
    for (std::size_t phase = 0; phase + 1 < of_phase_.size(); ++phase) {
        append_figures(map_.phases()[phase], of_phase_[phase], figures);
    }
    return figures;
}

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/gain/gain.hpp"

#include "common/base/error.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/formats/table/query.hpp"
#include "common/tools/tune/build/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::tuning {
namespace {

MethodTimes const& shown(Comparison const& comparison, std::string const& method) {
    auto const found = std::find_if(comparison.search.begin(), comparison.search.end(), [&](MethodTimes const& each) {
        return method == default_method ? each.is_default : each.choice.method == method;
    });
    if (found == comparison.search.end()) {
        throw UsageError(fmt::format("{} of {} bytes, {} ranks: the table picks '{}', which these results did not "
                                     "measure in a launch with the default; measure with it in --method",
                                     name_of(comparison.conditions.operation), comparison.bytes,
                                     comparison.conditions.ranks, method));
    }
    return *found;
}

SizeGain gain_at(TuningTable const& table, Comparison const& comparison) {
    Match const match = lookup(table, query_of(comparison.conditions, comparison.bytes, comparison.scope));
    SizeGain gain;
    gain.scope = comparison.scope;
    gain.conditions = comparison.conditions;
    gain.bytes = comparison.bytes;
    gain.choice = match ? match.deciding()->choose.method : default_method;
    MethodTimes const& choice = shown(comparison, gain.choice);
    gain.default_ns = statistics::median(shown(comparison, default_method).medians_ns);
    gain.choice_ns = statistics::median(choice.medians_ns);
    statistics::Ratio const ratio = statistics::ratio_of(choice.ratios);
    gain.speedup = {1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low};
    gain.launches = choice.ratios.size();
    double best = ratio.estimate;
    gain.best = choice.choice.method;
    for (MethodTimes const& each : comparison.search) {
        if (2 * each.ratios.size() < gain.launches) {
            continue;  // few launches are easily lucky
        }
        double const estimate = statistics::ratio_of(each.ratios).estimate;
        if (estimate < best) {
            best = estimate;
            gain.best = each.choice.method;
        }
    }
    gain.regret = ratio.estimate / best;
    return gain;
}

}  // namespace

std::vector<SizeGain> measured_gains(TuningTable const& table, std::vector<Observation> const& fresh) {
    std::vector<SizeGain> gains;
    for (Comparison const& comparison : method_comparisons(fresh, {})) {
        gains.push_back(gain_at(table, comparison));
    }
    return gains;
}

GainSummary summary_of(std::span<SizeGain const> sizes) {
    double speedup = 0;
    double regret = 0;
    GainSummary all{0, sizes.front().speedup.estimate, 0, 1};
    for (SizeGain const& size : sizes) {
        speedup += std::log(size.speedup.estimate);
        regret += std::log(size.regret);
        all.speedup_least = std::min(all.speedup_least, size.speedup.estimate);
        all.regret_most = std::max(all.regret_most, size.regret);
    }
    auto const count = static_cast<double>(sizes.size());
    all.speedup = std::exp(speedup / count);
    all.regret = std::exp(regret / count);
    return all;
}

ExpectedGain expected_gain(TuningTable const& table, Traffic const& traffic, std::string const& backend,
                           std::string const& memory) {
    ExpectedGain gain;
    for (auto const& [demand, count] : traffic) {
        Conditions conditions = demand.conditions;
        conditions.memory = memory;
        Rule const* const rule = lookup(table, query_of(conditions, demand.bytes, backend)).method;
        bool const known = rule != nullptr && rule->evidence;
        gain.steps.push_back({{conditions, demand.bytes}, count, known ? rule : nullptr});
        (known ? gain.covered : gain.uncovered) += count;
        if (known) {
            gain.default_ns += count * rule->evidence->default_ns;
            gain.saved_ns += count * rule->evidence->default_ns * rule->evidence->gain;
        }
    }
    return gain;
}

std::vector<NextJob> searches(ExpectedGain const& gain, std::string const& backend) {
    std::map<Conditions, NextJob> jobs;
    for (ExpectedStep const& step : gain.steps) {
        if (step.rule == nullptr && can_be_made(step.demand.conditions)) {
            NextJob& job = jobs[step.demand.conditions];
            job.conditions = step.demand.conditions;
            job.bytes.push_back(step.demand.bytes);
            job.methods = {"all"};
            job.backend = backend;
        }
    }
    std::vector<NextJob> all;
    for (auto& [conditions, job] : jobs) {
        all.push_back(std::move(job));
    }
    return all;
}

}  // namespace dlmb::tuning

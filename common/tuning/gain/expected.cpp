// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/gain/expected.hpp"

#include "common/tuning/query.hpp"

namespace dlmb::tuning {

ExpectedGain expected_gain(TuningTable const& table, Traffic const& traffic, std::string const& backend,
                           std::string const& memory) {
    ExpectedGain gain;
    for (auto const& [demand, count] : traffic) {
        Place place = demand.place;
        place.memory = memory;
        Rule const* const rule = lookup(table, query_of(place, demand.bytes, backend)).method;
        bool const known = rule != nullptr && rule->evidence;
        gain.steps.push_back({{place, demand.bytes}, count, known ? rule : nullptr});
        (known ? gain.covered : gain.uncovered) += count;
        if (known) {
            gain.default_ns += count * rule->evidence->default_ns;
            gain.saved_ns += count * rule->evidence->default_ns * rule->evidence->gain;
        }
    }
    return gain;
}

std::vector<NextJob> searches(ExpectedGain const& gain, std::string const& backend) {
    std::map<Place, NextJob> jobs;
    for (ExpectedStep const& step : gain.steps) {
        if (step.rule == nullptr && can_be_made(step.demand.place)) {
            NextJob& job = jobs[step.demand.place];
            job.place = step.demand.place;
            job.bytes.push_back(step.demand.bytes);
            job.methods = {"all"};
            job.backend = backend;
        }
    }
    std::vector<NextJob> all;
    for (auto& [place, job] : jobs) {
        all.push_back(std::move(job));
    }
    return all;
}

}  // namespace dlmb::tuning

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
        gain.default_ns += known ? count * rule->evidence->default_ns : 0;
        gain.choice_ns += known ? count * rule->evidence->choice_ns : 0;
        gain.uncovered += known ? 0 : count;
    }
    return gain;
}

}  // namespace dlmb::tuning

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans and statistics without a launch: the counts that peers would send at set-up are computed here.
#pragma once

#include "patterns/pattern.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

/// What a rank receives at set-up. In every pattern a rank sends counts to those ranks that send it theirs.
inline std::vector<SetupCounts> received_counts(Pattern const& pattern, RankSetup const& own, Draw draw) {
    std::vector<SetupCounts> received;
    for (SetupCounts const& sent : own.counts_to_send) {
        for (SetupCounts& theirs : pattern.setup_of(sent.to, draw).counts_to_send) {
            if (theirs.to == sent.from) {
                received.push_back(std::move(theirs));
            }
        }
    }
    return received;
}

inline Plan build_one(Pattern const& pattern, Rank me, Draw draw) {
    RankSetup const own = pattern.setup_of(me, draw);
    return pattern.build(me, draw, own, received_counts(pattern, own, draw));
}

/// Of all ranks. O(ranks^2) memory where groups or exchanges span the world.
inline std::vector<Plan> build_all(Pattern const& pattern, WorldShape const& world, Draw draw) {
    std::vector<Plan> plans;
    PlanSource const source = plans_of(pattern, world, draw);
    for (Rank me = 0; me < world.ranks; ++me) {
        plans.push_back(source.of(me));
    }
    return plans;
}

/// Over the first `sources` ranks.
inline std::map<std::string, double> statistics_of(Pattern const& pattern, int sources, Draw draw = {}) {
    std::vector<std::uint64_t> summed;
    for (Rank rank = 0; rank < sources; ++rank) {
        auto const counts = pattern.setup_of(rank, draw).statistics;
        summed.resize(counts.size());
        std::transform(counts.begin(), counts.end(), summed.begin(), summed.begin(), std::plus<>{});
    }
    std::map<std::string, double> found;
    for (Statistic const& each : pattern.statistics(summed)) {
        found[each.name] = each.value;
    }
    return found;
}
inline double statistic(Pattern const& pattern, int sources, std::string const& name, Draw draw = {}) {
    return statistics_of(pattern, sources, draw).at(name);
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pattern.hpp"

#include <algorithm>

namespace dlmb {
std::vector<Plan> build_all(Pattern const& pattern, WorldShape const& world, Draw draw) {
    std::vector<RankSetup> own;
    std::vector<std::vector<SetupCounts>> received(static_cast<std::size_t>(world.ranks));
    for (Rank source = 0; source < world.ranks; ++source) {
        own.push_back(pattern.setup_of(source, draw));
        for (SetupCounts const& counts : own.back().counts_to_send) {
            received.at(static_cast<std::size_t>(counts.to)).push_back(counts);  // sources ascend, so this stays sorted
        }
    }
    std::vector<Plan> plans;
    plans.reserve(own.size());
    for (Rank me = 0; me < world.ranks; ++me) {
        auto const index = static_cast<std::size_t>(me);
        plans.push_back(pattern.build(me, draw, own[index], received[index]));
    }
    return plans;
}

}  // namespace dlmb

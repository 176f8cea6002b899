// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/groups.hpp"

namespace dlmb::pipeline_p2p {

Group chain_of(Params const& params, WorldShape const& world, Rank me) {
    return strided_group(world, me, params.shape.ranks, params.stage_width());
}

Group places_in_chain(Params const& params, WorldShape const& world, Rank me, std::set<int> const& places) {
    Group const chain = chain_of(params, world, me);
    Group chosen;
    for (int const place : places) {
        chosen.members.push_back(chain.members[static_cast<std::size_t>(place)]);
    }
    return chosen;
}

Group replicas(Params const& params, Rank me, std::set<int> const& places) {
    Group chosen;
    for (int const place : places) {
        for (int copy = 0; copy < params.cp * params.dp; ++copy) {
            chosen.members.push_back(place * params.stage_width() + copy * params.tp + me % params.tp);
        }
    }
    return chosen;
}

}  // namespace dlmb::pipeline_p2p

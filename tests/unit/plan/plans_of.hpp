// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of all ranks from what each of them adds.
#pragma once

#include "common/formats/plan/builder.hpp"

#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlmb::test {

/// Group of ranks 0 to ranks - 1.
[[nodiscard]] inline Group world_group(int ranks) {
    Group group{std::vector<Rank>(static_cast<std::size_t>(ranks))};
    std::iota(group.members.begin(), group.members.end(), 0);
    return group;
}

/// Each rank's is built by add(builder, the group of all) or add(builder, the group of all, its rank).
template <class Add>
[[nodiscard]] std::vector<Plan> plans_of(int ranks, Add const& add) {
    std::vector<Plan> plans;
    for (Rank me = 0; me < ranks; ++me) {
        PlanBuilder builder(me);
        GroupId const all = builder.group(world_group(ranks));
        if constexpr (std::is_invocable_v<Add, PlanBuilder&, GroupId, Rank>) {
            add(builder, all, me);
        } else {
            add(builder, all);
        }
        plans.push_back(std::move(builder).finish());
    }
    return plans;
}

}  // namespace dlmb::test

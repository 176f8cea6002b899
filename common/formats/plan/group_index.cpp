// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <map>

namespace dlmb {

GroupIndex::GroupIndex(std::span<Plan const> all_ranks) : of_(all_ranks.size()) {
    std::map<std::vector<Rank>, SharedGroupId> known;  // by members
    for (std::size_t rank = 0; rank < all_ranks.size(); ++rank) {
        Plan const& plan = all_ranks[rank];
        std::vector<std::vector<StepId>*> steps;
        for (Group const& group : plan.groups) {
            auto const [place, added] = known.try_emplace(group.members, groups_.size());
            if (added) {
                groups_.push_back({&group, {}});
                groups_.back().steps.resize(group.members.size());
            }
            of_[rank].push_back(place->second);
            auto const me = static_cast<std::size_t>(rank_in(group, plan.me).value());
            steps.push_back(&groups_[place->second].steps[me].emplace());
        }
        for (std::size_t id = 0; id < plan.steps.size(); ++id) {
            if (auto const group = collective_group(plan.steps[id].operation)) {
                steps.at(*group)->push_back(static_cast<StepId>(id));
            }
        }
    }
}

std::optional<GroupId> collective_group(Operation const& operation) {
    bool const of_pairs =
        std::holds_alternative<Send>(operation) || std::holds_alternative<Recv>(operation) || has_signals(operation);
    return of_pairs ? std::nullopt : group_of(operation);
}

std::optional<Rank> rank_in(Group const& group, Rank world_rank) {
    auto const found = std::find(group.members.begin(), group.members.end(), world_rank);
    if (found == group.members.end()) {
        return std::nullopt;
    }
    return static_cast<Rank>(found - group.members.begin());
}

}  // namespace dlmb

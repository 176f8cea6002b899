// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which groups of different ranks' plans are the same group. A GroupId is local to one plan; over all plans a group is
// its ordered member list.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <optional>
#include <span>
#include <vector>

namespace dlmb {

/// One group of the world and the collective steps that its members run on it.
struct SharedGroup {
    Group const* group = nullptr;  // points into the plans, which must stay where they are
    /// By group rank: its collective steps on this group in plan order; nullopt: its plan does not have the group.
    std::vector<std::optional<std::vector<StepId>>> steps;
};

/// Number of a SharedGroup.
using SharedGroupId = std::size_t;

class GroupIndex {
public:
    /// Every group id of a plan is in range, its rank is a member of all its groups, and members are ranks of the
    /// world.
    explicit GroupIndex(std::span<Plan const> all_ranks);

    [[nodiscard]] std::span<SharedGroup const> groups() const { return groups_; }
    [[nodiscard]] SharedGroupId of(Rank rank, GroupId group) const {
        return of_[static_cast<std::size_t>(rank)].at(group);
    }

private:
    std::vector<SharedGroup> groups_;
    std::vector<std::vector<SharedGroupId>> of_;  // by world rank and GroupId
};

/// The group of an operation that all members of the group run together; nullopt for Send, Recv, Put, WaitSignal and
/// Compute.
[[nodiscard]] std::optional<GroupId> collective_group(Operation const& operation);

/// World rank -> group rank; nullopt: not a member.
[[nodiscard]] std::optional<Rank> rank_in(Group const& group, Rank world_rank);

}  // namespace dlmb

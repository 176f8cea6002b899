// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One communicator per group of ranks, made once and reused by every plan of the backend.
#pragma once

#include "common/bootstrap/mpi/communicator.hpp"
#include "common/plan/group_index.hpp"

#include <map>
#include <set>
#include <vector>

namespace dlmb::mpi {

class Communicators {
public:
    Communicators() : world_(duplicate(MPI_COMM_WORLD)) {}  // collective over MPI_COMM_WORLD

    [[nodiscard]] MPI_Comm world() const { return world_.get(); }
    [[nodiscard]] MPI_Comm of(Group const& group) const { return groups_.at(group.members).get(); }

    /// Collective: makes what the collective steps of `plan` need. All members of a group have the group in their
    /// plans.
    void prepare(Plan const& plan) {
        // Sorted by members: two ranks that share several new groups make them in the same order, so neither waits
        // for ever.
        std::set<std::vector<Rank>> needed;
        for (Step const& step : plan.steps) {
            if (auto const group = collective_group(step.operation)) {
                needed.insert(plan.groups.at(*group).members);
            }
        }
        for (std::vector<Rank> const& members : needed) {
            if (!groups_.contains(members)) {
                groups_.emplace(members, create_group(world_.get(), members));
            }
        }
    }

private:
    Communicator world_;
    std::map<std::vector<Rank>, Communicator> groups_;
};

}  // namespace dlmb::mpi

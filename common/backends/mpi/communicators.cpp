// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/communicators.hpp"

#include "common/plan/group_index.hpp"

#include <set>

namespace dlmb::mpi {

Communicators::Communicators() : world_(duplicate(MPI_COMM_WORLD)) {}

void Communicators::prepare(Plan const& plan) {
    // Sorted by members: two ranks that share several new groups make them in the same order, so neither waits forever.
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

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One communicator per group of ranks, made once and reused by every plan of the backend.
#pragma once

#include "common/bootstrap/mpi/communicator.hpp"
#include "common/plan/plan.hpp"

#include <map>
#include <vector>

namespace dlmb::mpi {

class Communicators {
public:
    Communicators();  // collective over MPI_COMM_WORLD

    [[nodiscard]] MPI_Comm world() const { return world_.get(); }
    /// Collective: makes what the collective steps of `plan` need. All members of a group have the group in their
    /// plans.
    void prepare(Plan const& plan);
    [[nodiscard]] MPI_Comm of(Group const& group) const { return groups_.at(group.members).get(); }

private:
    Communicator world_;
    std::map<std::vector<Rank>, Communicator> groups_;
};

}  // namespace dlmb::mpi

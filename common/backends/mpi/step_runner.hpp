// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single steps for a program that decides them as it goes: the calls of the backend's methods, on memory of the
// program. A backend's compile() is collective and binds a plan to its buffers; here ranks agree on nothing beforehand.
#pragma once

#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/methods.hpp"

#include <string>

namespace dlmb::mpi {

/// Within the life of MPI, on one thread.
class StepRunner {
public:
    /// Collective over MPI_COMM_WORLD. `yield`: a waiting rank lets others have its core.
    explicit StepRunner(bool yield) : idle_(yield) {}

    /// Why an algorithm of the library cannot be chosen in this launch at all, and what helps; empty: it can.
    [[nodiscard]] std::string const& why_no_algorithms() const { return algorithms_.catalogue().why_not; }

    /// Why `choice` cannot do the one step of `plan`; empty: it may be able to. The same on all ranks of the step's
    /// group, if they ask about the same method and step. Exchanges: all blocks of all ranks are equal, or the method
    /// is alltoallv or isend_irecv.
    [[nodiscard]] std::string refusal(Plan const& plan, MethodChoice const& choice) const;

    /// Collective over the group of the step, which is all that `plan` has: returns when this rank's data is complete.
    /// `choice`: one that refusal() does not refuse; equal on the ranks of the group, as are the settings of the step
    /// that are no addresses and no blocks. Groups that have ranks in common come in one order on these.
    /// Throws UsageError for an unknown method, CallFailed where MPI fails, also because the algorithm cannot do it.
    void run(Plan const& plan, Buffers const& buffers, MethodChoice const& choice);

private:
    Algorithms algorithms_;
    CallLimits limits_;
    Idle idle_;
};

}  // namespace dlmb::mpi

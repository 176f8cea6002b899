// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Single operations on memory of the caller, each over MPI or UCX and by the method that the tuning table chooses.
#pragma once

#include "launch/torch/ucx_steps.hpp"

#include "common/backends/mpi/step_runner.hpp"
#include "common/run/chooser/table_chooser.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace dlmb::torch {

/// The ranks of a process group.
struct Members {
    std::vector<Rank> world_ranks;  // by rank in the group
    int nodes = 1;                  // that they lie on
};

/// How one operation of one size was done.
struct Used {
    std::string operation;
    Bytes bytes = 0;  // as a tuning table counts them (docs/tuning.md); of an exchange of unequal blocks 0
    int ranks = 0;
    std::string backend = "mpi";
    std::string method = {};   // as --method takes it
    std::string rule = {};     // empty: none, this is the default
    std::string why_not = {};  // why what the table chose cannot be done here; empty: it is done
    std::uint64_t calls = 0;
};

/// Within the life of MPI and on its thread, but for report().
class TunedSteps {
public:
    /// Collective over MPI_COMM_WORLD. `chooser`: nullptr: the MPI library decides everything. UCX starts only where it
    /// can choose that. `ucx_version`: with which the table was measured; empty: with any.
    TunedSteps(tuning::TableChooser const* chooser, std::string const& ucx_version, bool yield);

    /// Collective over `members`. `memory`: what the buffers 0, 1 ... of the operation are; its group is 0.
    /// `ragged`: an exchange whose blocks are not known to be equal on all ranks. Throws where MPI or UCX fails.
    void run(Members const& members, Operation operation, std::vector<void*> const& memory, bool ragged = false);

    /// Why the library lets nobody choose its algorithms in this launch; empty: it does.
    [[nodiscard]] std::string const& why_no_algorithms() const { return runner_.why_no_algorithms(); }

    /// Why nothing of what the table chooses for UCX runs over it; empty: it may, or the table chooses nothing for it.
    [[nodiscard]] std::string const& why_no_ucx() const { return why_no_ucx_; }

    /// What was run so far, from any thread.
    [[nodiscard]] std::vector<Used> report() const;

private:
    /// What decides how an operation is done, and is equal on all of its ranks.
    using Call = std::tuple<OperationKind, Bytes, std::vector<Rank>, std::optional<tuning::Key>, bool>;
    struct Decision {
        MethodChoice method;
        bool over_ucx = false;
        bool is_default = true;  // of MPI
        Used used;
    };
    [[nodiscard]] Decision decide(Plan const& plan, std::optional<tuning::Key> const& key, bool ragged) const;
    void choose_over_mpi(Plan const& plan, StepChoice const& choice, Decision& decision) const;
    void choose_over_ucx(Plan const& plan, StepChoice const& choice, Decision& decision) const;

    tuning::TableChooser const* chooser_;
    mpi::StepRunner runner_;
    std::string why_no_ucx_;
    std::unique_ptr<UcxSteps> ucx_;  // nullptr: it is not needed, or not here
    Rank me_ = 0;
    mutable std::mutex mutex_;  // of the counts in decisions_
    std::map<Call, Decision> decisions_;
};

}  // namespace dlmb::torch

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a process has once for all of its process groups: MPI, the thread that calls it, and the table.
#pragma once

#include "launch/torch/executor.hpp"
#include "launch/torch/tuned_steps.hpp"

#include "common/bootstrap/mpi/communicator.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlmb::torch {

/// A process group as the thread of MPI knows it.
struct GroupOfRanks {
    Members members;
    mpi::Communicator messages;  // of send and recv
};

class Runtime : public std::enable_shared_from_this<Runtime> {
public:
    /// Collective over all processes of the launch: starts MPI if nobody did. `table`: path; empty: none. Throws
    /// UsageError for a table that is not valid, that other ranks do not have, or where the launcher does not fit MPI.
    explicit Runtime(std::string const& table);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    /// What the user should know: why the library decides everything. Empty: nothing.
    [[nodiscard]] std::string const& note() const { return note_; }
    [[nodiscard]] std::vector<Used> report() const { return steps_ ? steps_->report() : std::vector<Used>{}; }
    /// Collective: `text` of rank 0.
    [[nodiscard]] std::string broadcast(std::string text);

    /// Collective over the named processes. Lives as long as MPI.
    [[nodiscard]] GroupOfRanks const& make_group(std::vector<Rank> const& world_ranks);

    [[nodiscard]] Executor& executor() { return *executor_; }
    /// On the executor's thread.
    [[nodiscard]] TunedSteps& steps() { return *steps_; }

    /// Ends MPI, where it began here. `failed`, or something unfinished: leaves it and the thread, and the launcher
    /// ends the other processes, which wait for this one. Needs a shared_ptr to this.
    void close(bool failed);

private:
    void start(std::string const& table);
    void read_table(std::string const& path);

    std::unique_ptr<Executor> executor_ = std::make_unique<Executor>();
    int rank_ = 0;
    int size_ = 1;
    std::string note_;
    std::unique_ptr<tuning::TableChooser> chooser_;
    std::string ucx_version_;  // with which the table was measured; empty: with none
    // On the executor's thread.
    std::unique_ptr<MpiSession> session_;
    std::unique_ptr<TunedSteps> steps_;
    std::vector<std::unique_ptr<GroupOfRanks>> groups_;
    std::shared_ptr<Runtime> what_the_thread_uses_;  // itself, for ever, once the thread is abandoned
};

}  // namespace dlmb::torch

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared native calls, and the loops that make them: one after the other where every step waits for the one
// before, as they become ready elsewhere.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/mirrors.hpp"
#include "common/backends/mpi/task.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "common/plan/ready_queue.hpp"

#include <string>
#include <vector>

namespace dlmb::mpi {

/// Which algorithms of the library a plan runs by. `all` outlives the plan.
struct PlanAlgorithms {
    Algorithms* all = nullptr;
    AlgorithmChoice choice;
};

class MpiPlan final : public CompiledPlan {
public:
    /// `tasks`: by step of `plan`; `place`: "mpi/alltoallv, host memory, 16 ranks".
    /// `mirror`: what staged tasks point into.
    MpiPlan(Plan const& plan, std::vector<Task> tasks, Mirror mirror, std::string place, Idle idle,
            PlanAlgorithms algorithms);
    bool activate() override { return algorithms_.all->activate(algorithms_.choice); }
    [[nodiscard]] Provenance provenance() const override { return algorithms_.all->facts(algorithms_.choice); }
    void launch() override;  // posts the first step, or all that wait for none
    [[nodiscard]] bool launch_blocks() const override;
    void finish() override;

private:
    struct InOrder {
        void (*start)(void* task);
        void (*wait)(void* task);  // nullptr: complete after start
        void (*start_and_wait)(void* task);
        void* task;
    };
    [[nodiscard]] static InOrder bound(Task& task);
    void finish_in_order();
    void finish_as_ready();
    void start_ready();
    [[nodiscard]] bool collect_finished();
    [[noreturn]] void rethrow_with_place(CallFailed const& failure) const;

    PlanAlgorithms algorithms_;
    Mirror mirror_;
    std::vector<Task> tasks_;
    std::vector<std::string> labels_;
    std::vector<InOrder> in_order_;  // into tasks_; empty where steps run as they become ready
    ReadyQueue queue_;
    std::vector<StepId> open_;  // started, not complete
    std::string place_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    StepId current_ = 0;  // as ready
};

}  // namespace dlmb::mpi

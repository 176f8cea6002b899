// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared native calls, and the loops that make them: one after the other where every step waits for the one
// before, as they become ready elsewhere.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/prepared_call.hpp"
#include "common/backends/mpi/staging_buffers.hpp"
#include "common/base/idle.hpp"
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
    /// `calls`: by step of `plan`. `images`: what staged calls point into. `setting`: "mpi/alltoallv, host memory,
    /// 16 ranks".
    MpiPlan(Plan const& plan, std::vector<PreparedCall> calls, HostImages images, std::string setting, Idle idle,
            PlanAlgorithms algorithms);
    bool activate() override { return algorithms_.all->activate(algorithms_.choice); }
    [[nodiscard]] Provenance provenance() const override { return algorithms_.all->facts(algorithms_.choice); }
    void launch() override;  // posts the first step, or all that wait for none
    // Steps that are no chain are never blocking calls (plan_requirements.hpp).
    [[nodiscard]] bool launch_blocks() const override { return in_order_ && calls_.front().blocks(); }
    void finish() override;

private:
    void finish_in_order();
    void finish_as_ready();
    void start_ready();
    [[nodiscard]] bool collect_finished();
    [[noreturn]] void rethrow_with_step(CallFailed const& failure) const;

    PlanAlgorithms algorithms_;
    HostImages images_;
    std::vector<PreparedCall> calls_;
    std::vector<std::string> labels_;
    bool in_order_;  // every step waits for the one before
    ReadyQueue queue_;
    std::vector<StepId> open_;  // started, not complete
    std::string setting_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    StepId current_ = 0;  // as ready
};

}  // namespace dlmb::mpi

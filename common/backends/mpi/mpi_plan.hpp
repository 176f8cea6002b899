// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared native calls, and the loops that make them: one after the other where every step waits for the one
// before, as they become ready elsewhere.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/prepared_call.hpp"
#include "common/backends/mpi/staging.hpp"
#include "common/base/idle.hpp"

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
    /// What ReadySteps does with a step.
    struct Runner {
        bool start(StepId step, NoState& /*state*/) {
            plan.current_ = step;
            plan.calls_[step].start();
            return false;
        }
        bool poll(StepId step, NoState& /*state*/) {
            plan.current_ = step;
            return plan.calls_[step].test();
        }
        void complete(StepId step) { plan.mark(step); }
        void idle() const { plan.idle_(); }

        MpiPlan& plan;
    };
    void finish_in_order();
    // Not inlined: their registers would be saved in every iteration of plans that run in order, too.
    [[gnu::noinline]] void launch_as_ready();
    [[gnu::noinline]] void finish_as_ready();
    [[noreturn]] void rethrow_with_step(CallFailed const& failure) const;

    PlanAlgorithms algorithms_;
    HostImages images_;
    std::vector<PreparedCall> calls_;
    std::vector<std::string> labels_;
    bool in_order_;  // every step waits for the one before
    ReadySteps<> ready_steps_;
    std::string setting_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    StepId current_ = 0;  // where steps run as they become ready
};

}  // namespace dlmb::mpi

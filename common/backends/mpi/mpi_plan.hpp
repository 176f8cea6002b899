// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared native calls, and the loops that make them: one after the other where every step waits for the one
// before, all at once where none waits for another, as they become ready elsewhere.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/prepared_call.hpp"
#include "common/backends/mpi/signal_board.hpp"
#include "common/backends/mpi/staging.hpp"
#include "common/backends/mpi/window.hpp"
#include "common/base/idle.hpp"

#include <string>
#include <vector>

namespace dlmb::mpi {

class MpiPlan final : public CompiledPlan {
public:
    /// `calls`: by step of `plan`. `images`, `windows` and `board` (nullptr: there are no puts): what staged and
    /// one-sided calls point into. `setting`:
    /// "mpi/alltoallv, host memory, 16 ranks". `choice`: which of `algorithms`, which outlive the plan, it runs by.
    MpiPlan(Plan const& plan, std::vector<PreparedCall> calls, HostImages images, std::vector<Window> windows,
            std::unique_ptr<SignalBoard> board, std::string setting, Idle idle, Algorithms& algorithms,
            LibraryAlgorithms choice);
    bool activate() override { return algorithms_.activate(choice_); }
    [[nodiscard]] Provenance provenance() const override { return algorithms_.facts(choice_); }
    void launch() override;  // posts the first step, or all that wait for none
    // Steps that are no chain are never blocking calls (compile_plan.hpp).
    [[nodiscard]] bool launch_blocks() const override { return order_ == Order::chain && calls_.front().blocks(); }
    void finish() override;
    bool poll() override;
    /// From now on poll() may be called: no step is a blocking call.
    void run_by_polling() { order_ = Order::as_ready; }

private:
    enum class Order : std::uint8_t {
        chain,     // every step waits for the one before
        together,  // no step waits for another, and whoever waits for one of them drives all
        as_ready
    };
    static Order order_of(Plan const& plan, HostImages const& images, std::vector<Window> const& windows);

    friend ReadySteps<>;
    bool start(StepId step, NoState& /*state*/) {
        current_ = step;
        calls_[step].start();
        return false;
    }
    bool poll(StepId step, NoState& /*state*/) {
        current_ = step;
        return calls_[step].test();
    }
    void complete(StepId step) { mark(step); }
    void idle() const { idle_(); }

    void finish_in_order();
    void launch_together();
    void finish_together();
    // Not inlined: their registers would be saved in every iteration of plans that run in order, too.
    [[gnu::noinline]] void launch_as_ready() { ready_steps_.launch(*this); }
    [[gnu::noinline]] void finish_as_ready() { ready_steps_.finish(*this); }
    [[noreturn]] void rethrow_with_step(CallFailed const& failure) const;

    Algorithms& algorithms_;
    LibraryAlgorithms choice_;
    HostImages images_;
    std::vector<Window> windows_;  // end in the order of their making, on all ranks alike
    std::unique_ptr<SignalBoard> board_;
    std::vector<PreparedCall> calls_;
    std::vector<std::string> labels_;
    Order order_;
    ReadySteps<> ready_steps_;
    std::string setting_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    StepId current_ = 0;  // of a plan that is no chain
};

}  // namespace dlmb::mpi

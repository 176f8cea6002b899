// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {

MpiPlan::MpiPlan(Plan const& plan, std::vector<PreparedCall> calls, HostImages images, std::vector<Window> windows,
                 std::string setting, Idle idle, Algorithms& algorithms, AlgorithmChoice choice)
    : CompiledPlan(plan.steps.size()), algorithms_(algorithms), choice_(std::move(choice)), images_(std::move(images)),
      windows_(std::move(windows)), calls_(std::move(calls)), in_order_(!calls_.empty() && is_chain(plan)),
      ready_steps_(precedence_of(plan)), setting_(std::move(setting)), idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        if (in_order_) {
            calls_.front().start();
        } else {
            launch_as_ready();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_step(failure);
    }
}

void MpiPlan::finish() {
    try {
        if (in_order_) {
            finish_in_order();
        } else {
            finish_as_ready();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_step(failure);
    }
}

void MpiPlan::finish_in_order() {
    calls_.front().wait();
    std::size_t const last = calls_.size() - 1;
    for (StepId step = 0; step < last; ++step) {  // equals steps_done()
        mark(step, step);
        calls_[step + 1].start_and_wait();
    }
    mark_last(static_cast<StepId>(last));
}

void MpiPlan::rethrow_with_step(CallFailed const& failure) const {
    StepId const step = in_order_ ? steps_done() : current_;
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), setting_,
                            iteration_ - 1, step, labels_[step]),
                failure.where());
}

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {

MpiPlan::MpiPlan(Plan const& plan, std::vector<PreparedCall> calls, HostImages images, std::string setting, Idle idle,
                 PlanAlgorithms algorithms)
    : CompiledPlan(plan.steps.size()), algorithms_(std::move(algorithms)), images_(std::move(images)),
      calls_(std::move(calls)), in_order_(!calls_.empty() && is_chain(plan)), queue_(precedence_of(plan)),
      setting_(std::move(setting)), idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    open_.reserve(calls_.size());
}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        if (in_order_) {
            calls_.front().start();
        } else {
            open_.clear();
            queue_.begin();
            start_ready();
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

void MpiPlan::finish_as_ready() {
    while (!queue_.done()) {
        if (collect_finished()) {
            start_ready();
        } else {
            idle_();
        }
    }
}

void MpiPlan::start_ready() {
    while (auto const step = queue_.take()) {
        current_ = *step;
        calls_[current_].start();
        open_.push_back(current_);
    }
}

/// True when any step became complete. The others keep their order: what was posted first is asked about first.
bool MpiPlan::collect_finished() {
    std::size_t kept = 0;
    for (StepId const step : open_) {
        current_ = step;
        if (calls_[current_].test()) {
            mark(current_);
            queue_.complete(current_);
        } else {
            open_[kept++] = current_;
        }
    }
    bool const any = kept < open_.size();
    open_.resize(kept);
    return any;
}

void MpiPlan::rethrow_with_step(CallFailed const& failure) const {
    StepId const step = in_order_ ? steps_done() : current_;
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), setting_,
                            iteration_ - 1, step, labels_[step]),
                failure.where());
}

}  // namespace dlmb::mpi

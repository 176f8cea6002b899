// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::mpi {

MpiPlan::MpiPlan(Plan const& plan, std::vector<PreparedCall> calls, HostImages images, std::vector<Window> windows,
                 std::unique_ptr<SignalBoard> board, std::string setting, Idle idle, Algorithms& algorithms,
                 LibraryAlgorithms choice)
    : CompiledPlan(plan.steps.size()), algorithms_(algorithms), choice_(std::move(choice)), images_(std::move(images)),
      windows_(std::move(windows)), board_(std::move(board)), calls_(std::move(calls)),
      order_(order_of(plan, images_, windows_)), ready_steps_(precedence_of(plan)), setting_(std::move(setting)),
      idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    if (board_ != nullptr) {
        board_->watch(signal_watch());
    }
}

/// MPI drives all that is posted while it waits for anything. Computations, staged and one-sided steps are driven by
/// polling, and so are steps of requests, whose ends are told apart.
MpiPlan::Order MpiPlan::order_of(Plan const& plan, HostImages const& images, std::vector<Window> const& windows) {
    if (!plan.steps.empty() && is_chain(plan)) {
        return Order::chain;
    }
    bool const driven = images.memory.empty() && windows.empty() && !has_signals(plan);  // one rank has no windows
    bool const together =
        driven && std::all_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
            return step.after.empty() && step.microbatch < 0 && !std::holds_alternative<Compute>(step.operation);
        });
    return together ? Order::together : Order::as_ready;
}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        if (board_ != nullptr) {
            board_->begin();
        }
        if (order_ == Order::chain) {
            calls_.front().start();
        } else if (order_ == Order::together) {
            launch_together();
        } else {
            launch_as_ready();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_step(failure);
    }
}

void MpiPlan::finish() {
    try {
        if (order_ == Order::chain) {
            finish_in_order();
        } else if (order_ == Order::together) {
            finish_together();
        } else {
            finish_as_ready();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_step(failure);
    }
}

bool MpiPlan::poll() {
    try {
        bool const done = ready_steps_.look(*this);
        if (done) {  // MPI may still have to send what is complete here
            make_progress();
        }
        return done;
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

void MpiPlan::launch_together() {
    for (current_ = 0; current_ < calls_.size(); ++current_) {
        calls_[current_].start();
    }
}

void MpiPlan::finish_together() {
    for (current_ = 0; current_ < calls_.size(); ++current_) {
        calls_[current_].wait();
        mark(current_);
    }
}

void MpiPlan::rethrow_with_step(CallFailed const& failure) const {
    StepId const step = order_ == Order::chain ? steps_done() : current_;
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), setting_,
                            iteration_ - 1, step, labels_[step]),
                failure.where());
}

}  // namespace dlmb::mpi

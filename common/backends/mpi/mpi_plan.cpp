// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

#include <span>

namespace dlmb::mpi {

MpiPlan::MpiPlan(Plan const& plan, std::vector<Task> tasks, Mirror mirror, std::string place, Idle idle,
                 PlanAlgorithms algorithms)
    : CompiledPlan(plan.steps.size()), algorithms_(std::move(algorithms)), mirror_(std::move(mirror)),
      tasks_(std::move(tasks)), in_order_(is_chain(plan)), queue_(precedence_of(plan)), place_(std::move(place)),
      idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    open_.reserve(tasks_.size());
}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        if (in_order_) {
            run_in_order();
        } else {
            run_as_ready();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_place(failure);
    }
}

void MpiPlan::run_in_order() {
    StepId step = 0;  // equals steps_done()
    for (Task& each : std::span(tasks_)) {
        std::visit([](auto& task) { task.run(); }, each);
        mark(step, step);
        ++step;
    }
}

void MpiPlan::run_as_ready() {
    open_.clear();
    queue_.begin();
    start_ready();
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
        std::visit([](auto& task) { task.start(); }, tasks_[current_]);
        open_.push_back(current_);
    }
}

/// True when any step became complete. The others keep their order: what was posted first is asked about first.
bool MpiPlan::collect_finished() {
    std::size_t kept = 0;
    for (StepId const step : open_) {
        current_ = step;
        if (std::visit([](auto& task) { return task.test(); }, tasks_[current_])) {
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

void MpiPlan::rethrow_with_place(CallFailed const& failure) const {
    StepId const step = in_order_ ? steps_done() : current_;
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), place_,
                            iteration_ - 1, step, labels_[step]),
                failure.where());
}

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

namespace dlmb::mpi {

MpiPlan::MpiPlan(Plan const& plan, std::vector<Task> tasks, Mirror mirror, std::string place, Idle idle,
                 PlanAlgorithms algorithms)
    : CompiledPlan(plan.steps.size()), algorithms_(std::move(algorithms)), mirror_(std::move(mirror)),
      tasks_(std::move(tasks)), queue_(precedence_of(plan)), place_(std::move(place)), idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    if (is_chain(plan)) {
        std::transform(tasks_.begin(), tasks_.end(), std::back_inserter(in_order_), bound);
    }
    open_.reserve(tasks_.size());
}

// Steps that are no chain are never blocking calls (survey.cpp).
bool MpiPlan::launch_blocks() const {
    return !in_order_.empty() && in_order_.front().wait == nullptr;
}

// Chosen once, not in each iteration as by std::visit.
MpiPlan::InOrder MpiPlan::bound(Task& task) {
    return std::visit(
        [](auto& each) -> InOrder {
            using Kind = std::remove_reference_t<decltype(each)>;
            auto* const start = +[](void* known) { static_cast<Kind*>(known)->start(); };
            if constexpr (requires { each.blocks(); }) {
                if (each.blocks()) {
                    return {start, nullptr, start, &each};
                }
            }
            return {start, [](void* known) { static_cast<Kind*>(known)->wait(); },
                    [](void* known) {
                        static_cast<Kind*>(known)->start();
                        static_cast<Kind*>(known)->wait();
                    },
                    &each};
        },
        task);
}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        if (in_order_.empty()) {
            open_.clear();
            queue_.begin();
            start_ready();
        } else {
            in_order_.front().start(in_order_.front().task);
        }
    } catch (CallFailed const& failure) {
        rethrow_with_place(failure);
    }
}

void MpiPlan::finish() {
    try {
        if (in_order_.empty()) {
            finish_as_ready();
        } else {
            finish_in_order();
        }
    } catch (CallFailed const& failure) {
        rethrow_with_place(failure);
    }
}

void MpiPlan::finish_in_order() {
    if (InOrder const& first = in_order_.front(); first.wait != nullptr) {
        first.wait(first.task);
    }
    std::size_t const last = in_order_.size() - 1;
    for (StepId step = 0; step < last; ++step) {  // equals steps_done()
        mark(step, step);
        InOrder const& next = in_order_[step + 1];
        next.start_and_wait(next.task);
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
    StepId const step = in_order_.empty() ? current_ : steps_done();
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), place_,
                            iteration_ - 1, step, labels_[step]),
                failure.where());
}

}  // namespace dlmb::mpi

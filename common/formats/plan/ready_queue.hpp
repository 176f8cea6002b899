// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// In which order the steps of a plan may run. What must happen on a rank before a step starts: the steps that it waits
// for are complete, and the step before it on the same channel or group has been posted, because libraries pair those
// up by their order. ReadyQueue hands steps out in that order; backends run plans with it, and validate() simulates
// plans with it.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlmb {

/// Over tasks that are numbered from 0; a task only names earlier ones.
struct Precedence {
    std::vector<std::vector<std::uint32_t>> complete;  // by task: those that are complete before it starts
    std::vector<std::vector<std::uint32_t>> started;   // by task: those that have started before it starts
};

/// Tasks are the plan's steps. Throws Error when a step waits for itself or for a later step.
[[nodiscard]] Precedence precedence_of(Plan const& plan);

/// Every step waits for the one before it: nothing overlaps, and steps run in plan order.
[[nodiscard]] bool is_chain(Plan const& plan);

/// The most communicating steps that wait for one another by `after`; 0 for a plan without any.
[[nodiscard]] std::size_t longest_chain(Plan const& plan);

/// Whether `later` starts only after `earlier` is complete, by any path of `after`.
[[nodiscard]] bool waits_for(Plan const& plan, StepId later, StepId earlier);

class ReadyQueue {
public:
    explicit ReadyQueue(Precedence const& precedence);

    /// All tasks are to be done again.
    void begin();
    /// The task that has been ready for longest, which thereby starts; nothing: none is ready now.
    [[nodiscard]] std::optional<std::uint32_t> take() {
        if (taken_ == ready_.size()) {
            return std::nullopt;
        }
        std::uint32_t const task = ready_[taken_++];
        release(after_start_.of(task));
        return task;
    }
    void complete(std::uint32_t task) {
        ++completed_;
        release(after_completion_.of(task));
    }
    /// All tasks are complete.
    [[nodiscard]] bool done() const { return completed_ == waits_.size(); }

private:
    /// Successors of all tasks in one array.
    struct Successors {
        explicit Successors(std::vector<std::vector<std::uint32_t>> const& predecessors);
        [[nodiscard]] std::span<std::uint32_t const> of(std::uint32_t task) const {
            return std::span(tasks).subspan(first[task], first[task + std::size_t{1}] - first[task]);
        }

        std::vector<std::size_t> first;  // by task, and the end
        std::vector<std::uint32_t> tasks;
    };

    void release(std::span<std::uint32_t const> tasks) {
        for (std::uint32_t const task : tasks) {
            if (--left_[task] == 0) {
                ready_.push_back(task);
            }
        }
    }

    std::vector<std::uint32_t> waits_;  // by task: how many predecessors
    std::vector<std::uint32_t> left_;   // in this iteration
    Successors after_completion_;
    Successors after_start_;
    std::vector<std::uint32_t> ready_;
    std::size_t taken_ = 0;  // of ready_
    std::size_t completed_ = 0;
};

}  // namespace dlmb

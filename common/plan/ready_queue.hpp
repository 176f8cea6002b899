// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The dependency-driven order: hands out every task as soon as what must precede it has happened. After construction
// nothing is allocated, and what runs once per task is in the header. Backends run plans with it, and validate() plays
// plans with it.
#pragma once

#include "common/plan/precedence.hpp"

#include <optional>
#include <span>

namespace dlmb {

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

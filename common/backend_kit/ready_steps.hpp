// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of a backend that drives a plan from the host: start what is ready, poll what has started, complete, idle.
#pragma once

#include "common/formats/plan/ready_queue.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb {

/// State of a backend whose steps themselves keep what was started.
struct NoState {};

/// Runs the tasks of a plan (its steps, or the parts that a backend cut them into) as they become ready. What a task
/// does is the runner's business, an object with four members that the loop calls directly:
///
///     bool start(std::uint32_t task, State& state);  // true: it is complete already
///     bool poll(std::uint32_t task, State& state);   // true: it is complete now
///     void complete(std::uint32_t task);             // once per task; the tasks that wait for it start afterwards
///     void idle();                                   // nothing became complete since the last call
///
/// Tasks start in the order in which they became ready and are polled in the order in which they started. `State` is
/// what the runner needs to know of a task only while it is open, such as a request. Nothing is allocated after
/// construction and nothing is called through a pointer.
template <class State = NoState>
class ReadySteps {
public:
    struct Open {
        std::uint32_t task;
        State state;
    };

    explicit ReadySteps(Precedence const& precedence) : queue_(precedence) {
        open_.reserve(precedence.complete.size());
    }

    /// Begins an iteration: starts all tasks that wait for none, and those that follow at once.
    template <class Runner>
    void launch(Runner& runner) {
        open_.clear();
        queue_.begin();
        start_ready(runner);
    }

    /// Returns when all tasks are complete.
    template <class Runner>
    void finish(Runner& runner) {
        while (!queue_.done()) {
            if (poll_open(runner)) {
                start_ready(runner);
            } else {
                runner.idle();
            }
        }
    }

    /// One look at what is in flight, with what follows from it. True: all tasks are complete.
    template <class Runner>
    [[nodiscard]] bool look(Runner& runner) {
        if (!queue_.done() && poll_open(runner)) {
            start_ready(runner);
        }
        return queue_.done();
    }

    /// Started and not complete. After an exception of the runner: some may have a state of `State{}`.
    [[nodiscard]] std::span<Open const> open() const { return open_; }

private:
    template <class Runner>
    void start_ready(Runner& runner) {
        while (auto const task = queue_.take()) {
            Open& opened = open_.emplace_back(Open{*task, State{}});
            if (runner.start(*task, opened.state)) {
                open_.pop_back();
                complete(runner, *task);
            }
        }
    }

    /// True when any task became complete.
    template <class Runner>
    [[nodiscard]] bool poll_open(Runner& runner) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            Open& each = open_[i];
            if (runner.poll(each.task, each.state)) {
                each.state = State{};
                complete(runner, each.task);
            } else if (kept++ != i) {
                open_[kept - 1] = each;
                each.state = State{};  // held once, also where a later poll throws
            }
        }
        bool const any = kept < open_.size();
        open_.resize(kept);
        return any;
    }

    template <class Runner>
    void complete(Runner& runner, std::uint32_t task) {
        runner.complete(task);
        queue_.complete(task);
    }

    ReadyQueue queue_;
    std::vector<Open> open_;
};

}  // namespace dlmb

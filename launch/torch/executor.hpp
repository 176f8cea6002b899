// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The one thread that calls MPI. Collectives block, and run in the order in which they were submitted; messages are
// started in that order, and tested until they are done while later jobs run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace dlmb::torch {

class Executor {
public:
    using Job = std::function<void()>;
    using Poll = std::function<bool()>;

    Executor();
    Executor(Executor const&) = delete;
    Executor(Executor&&) = delete;
    Executor& operator=(Executor const&) = delete;
    Executor& operator=(Executor&&) = delete;
    /// Waits for all that was submitted; after abandon() for nothing.
    ~Executor();

    /// From any thread. `job` does not throw.
    void submit(Job job);
    /// submit(), and waits until the job is done. Throws what it throws, and std::future_error for one that is
    /// discarded.
    void run(Job const& job);
    /// From a job: `poll` is called until it is true. It does not throw.
    void poll(Poll poll);
    /// Whether nothing is submitted, running or polled any more before `limit` is over.
    [[nodiscard]] bool idle_within(std::chrono::milliseconds limit) const;
    /// The thread is left to itself with the job that it cannot finish: a peer is gone. Other jobs, also later ones,
    /// are discarded.
    void abandon();

private:
    struct State;
    std::shared_ptr<State> state_;
    std::thread thread_;
};

}  // namespace dlmb::torch

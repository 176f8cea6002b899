// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ends a launch that hangs. One thread per process watches a deadline that the measuring code keeps moving; it says
// which rank, cell and step stood still. It also turns SIGTERM and SIGINT into an orderly end.
#pragma once

#include "common/base/units.hpp"

#include <functional>
#include <memory>
#include <string>

namespace dlmb {
class CompiledPlan;
struct Plan;
}  // namespace dlmb

namespace dlmb::measure {

struct HangReport {
    std::string cell;
    std::string activity;  // "warm-up", "round 3", "first iteration" ...
    std::string step;      // label of the first step, in plan order, that is not done; empty outside an iteration
    Nanoseconds silent_ns = 0;
    int signal = 0;  // 0: deadline; otherwise SIGTERM or SIGINT
};

class Watchdog {
public:
    /// `expired` runs once, on the watchdog's thread or in expire(), and must end the process (Bootstrap::abort after
    /// writing what it can). Should it return, nothing is watched any more.
    explicit Watchdog(std::function<void(HangReport const&)> expired);
    Watchdog(Watchdog const&) = delete;
    Watchdog(Watchdog&&) = delete;
    Watchdog& operator=(Watchdog const&) = delete;
    Watchdog& operator=(Watchdog&&) = delete;
    ~Watchdog();

    /// Starts watching `cell`; each later touch moves the deadline to now + timeout. 0 or less: no deadline, signals
    /// only.
    void arm(std::string cell, Nanoseconds timeout_ns);
    void activity(std::string what);  // also a touch
    /// Whose steps_done() to name; both live until disarm() or the next call. nullptr: none.
    void iteration(CompiledPlan const* running, Plan const* plan) noexcept;
    void touch() noexcept;  // one relaxed store of a clock read
    /// As if the deadline had passed now, in the calling thread: for transports that notice by themselves that an
    /// iteration does not end.
    void expire();
    /// No deadline; returns when the watchdog's thread no longer looks at the last iteration.
    void disarm();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Blocks SIGTERM and SIGINT in the calling thread and in all threads it starts later; call first in main, so that the
/// watchdog's thread is the one that receives them.
void block_termination_signals();

}  // namespace dlmb::measure

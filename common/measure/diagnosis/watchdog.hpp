// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ends a launch that hangs, and says which rank, cell and step stood still. A timer interrupts the rank's own thread at
// a deadline that the measuring code keeps moving. There is no thread for it: MPI_THREAD_SINGLE, at which MPI is
// measured by default, promises the library that a process has one thread only. SIGTERM and SIGINT end a launch the
// same way.
#pragma once

#include "common/base/units.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dlmb {
class CompiledPlan;
struct Plan;
}  // namespace dlmb

namespace dlmb::measure {

/// Valid during the call that it is given to.
struct HangReport {
    std::string_view cell;
    std::string_view activity;  // "warm-up", "round 3", "first iteration" ...
    std::string_view step;      // label of the first step, in plan order, that is not done; empty outside an iteration
    Nanoseconds silent_ns = 0;
    int signal = 0;  // 0: deadline; otherwise SIGTERM or SIGINT
};

/// Holds SIGTERM, SIGINT and the deadline back from the calling thread while it changes what the call on expiry reads.
class HeldSignals {
public:
    HeldSignals();
    HeldSignals(HeldSignals const&) = delete;
    HeldSignals(HeldSignals&&) = delete;
    HeldSignals& operator=(HeldSignals const&) = delete;
    HeldSignals& operator=(HeldSignals&&) = delete;
    ~HeldSignals();

private:
    sigset_t before_{};
};

/// Belongs to the thread that makes it: only that thread may use and destroy it.
class Watchdog {
public:
    enum class Signals { left_alone, taken };

    /// `expired` runs once, in a signal handler of this thread wherever it stands, or in expire(). So it may only do
    /// what is async-signal-safe (signal-safety(7)): no allocation, no stdio, no MPI. It must end the process with
    /// _exit. Should it return, nothing is watched any more. `taken`: SIGTERM and SIGINT call it too; for one watchdog
    /// of a process, whose other threads may block the two or not.
    explicit Watchdog(std::function<void(HangReport const&)> expired, Signals signals = Signals::left_alone);
    Watchdog(Watchdog const&) = delete;
    Watchdog(Watchdog&&) = delete;
    Watchdog& operator=(Watchdog const&) = delete;
    Watchdog& operator=(Watchdog&&) = delete;
    ~Watchdog();

    /// Starts watching `cell`; each later touch moves the deadline to now + timeout. Where iterations follow each other
    /// without one, the deadline passes after between one and two timeouts. 0 or less: no deadline, signals only.
    void arm(std::string cell, Nanoseconds timeout_ns);
    void activity(std::string what);  // also a touch
    /// Sets the plan whose open step is named; both live until disarm() or the next call. nullptr: none.
    void iteration(CompiledPlan const* running, Plan const* plan) noexcept;
    void touch() noexcept;                 // a clock read and two relaxed stores
    void touch(Nanoseconds now) noexcept;  // as read just now
    /// As if the deadline had passed now: for transports that notice by themselves that an iteration does not end.
    void expire();
    /// No deadline, and the last iteration is not looked at any more.
    void disarm();

    struct State;  // for the signal handlers

private:
    std::unique_ptr<State> state_;
};

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One launch, as each rank of it runs it, and what ends it when a rank stands still.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/run/options/options.hpp"
#include "common/run/reporter.hpp"

#include <atomic>
#include <string>
#include <string_view>

namespace dlmb::run {

/// Ends a launch in which a rank stands still, or that is told to end by a signal: from before MPI_Init until after
/// MPI_Finalize, in which a rank may wait for the others as well. Of one rank, on the rank's thread.
class LaunchWatch {
public:
    /// Begins with the start-up. timeout_ns: --timeout. `rank`: as far as it is known yet; -1: not at all.
    LaunchWatch(std::string_view program, Rank rank, Nanoseconds timeout_ns, measure::Watchdog::Signals signals);

    /// The rank is known from here on.
    void name_rank(Bootstrap const& bootstrap);
    void start_up() { watchdog_.arm("start-up", timeout_ns_); }
    /// All is said, also where the launch was refused. A signal from here on ends the rank without a word: launchers
    /// send one to the ranks that leave after the first.
    void end() {
        over_ = true;
        watchdog_.arm("end of the launch", timeout_ns_);
    }
    [[nodiscard]] measure::Watchdog& watchdog() { return watchdog_; }

    /// While it lives, `reporter` records a hang.
    class HangReporter {
    public:
        HangReporter(LaunchWatch& watch, Reporter& reporter) : watch_(watch) { watch_.reporter_ = &reporter; }
        HangReporter(HangReporter const&) = delete;
        HangReporter(HangReporter&&) = delete;
        HangReporter& operator=(HangReporter const&) = delete;
        HangReporter& operator=(HangReporter&&) = delete;
        ~HangReporter() { watch_.reporter_ = nullptr; }

    private:
        LaunchWatch& watch_;
    };

private:
    // NOLINTNEXTLINE(bugprone-exception-escape): see FixedText
    [[noreturn]] void end_launch(measure::HangReport const& hang) noexcept;

    std::string program_;
    Nanoseconds timeout_ns_;
    // The signal handler uses these; they are changed with the signals held.
    Rank rank_;
    std::string host_;
    std::string who_;     // "dlmb_collective: error: rank 1 (node7): "
    std::string silent_;  // "no progress for 60 s"
    std::atomic<Reporter*> reporter_{nullptr};
    std::atomic<bool> over_{false};
    measure::Watchdog watchdog_;
};

/// Collective. Checks the sweep, opens backends, calibrates, measures. Returns the exit code, equal on all ranks.
/// Throws UsageError and OutputError alike on all ranks.
[[nodiscard]] int run_launch(Bootstrap& bootstrap, PatternType const& type, Options const& given, LaunchWatch& watch);

}  // namespace dlmb::run

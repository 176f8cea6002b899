// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launch_watch.hpp"

#include <fmt/core.h>

#include <poll.h>
#include <unistd.h>

namespace dlmb::app {

LaunchWatch::LaunchWatch(std::string_view program, Rank rank, Nanoseconds timeout_ns,
                         measure::Watchdog::Signals signals)
    : program_(program), timeout_ns_(timeout_ns), rank_(rank),
      who_(rank < 0 ? fmt::format("{}: error: a rank: ", program) : fmt::format("{}: error: rank {}: ", program, rank)),
      silent_(fmt::format(": no progress for {:.0f} s\n", static_cast<double>(timeout_ns) / 1e9)),
      watchdog_([this](measure::HangReport const& hang) { end_launch(hang); }, signals) {
    start_up();
}

void LaunchWatch::name_rank(Bootstrap const& bootstrap) {
    std::string who = fmt::format("{}: error: rank {} ({}): ", program_, bootstrap.rank(), bootstrap.host());
    std::string host = bootstrap.host();
    measure::HeldSignals const held;
    rank_ = bootstrap.rank();
    host_.swap(host);
    who_.swap(who);
}

/// Async-signal-safe. Rank 0 gets time to save what it has before the others end the job. A rank that leaves MPI's job
/// without MPI_Finalize ends all of it; MPI_Abort must not be called from a signal handler.
void LaunchWatch::end_launch(measure::HangReport const& hang) noexcept {
    constexpr int head_start_ms = 5000;  // deadlines of ranks differ by up to one iteration
    constexpr int signal_exit_base = 128;
    if (Reporter* const reporter = reporter_; reporter != nullptr) {
        reporter->hang(hang, rank_, host_);
    } else if (hang.signal == 0 || !over_) {
        std::string_view const by_signal = ": ended by a signal (the job was cancelled, or another rank ended)\n";
        std::string_view const why = hang.signal == 0 ? std::string_view(silent_) : by_signal;
        for (std::string_view const text : {std::string_view(who_), hang.cell, why}) {
            (void)!write(STDERR_FILENO, text.data(), text.size());
        }
    }
    if (rank_ != 0) {
        poll(nullptr, 0, head_start_ms);
    }
    _exit(hang.signal == 0 ? static_cast<int>(exit_cell_failed) : signal_exit_base + hang.signal);
}

}  // namespace dlmb::app

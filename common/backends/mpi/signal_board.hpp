// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals: MPI_Put into windows of the buffers that peers wait for, MPI_Win_flush, and MPI_Accumulate
// (MPI_REPLACE) of the iteration's number into a window of flags, flushed too. By the standard (MPI 4.1, 13.5.4 and
// 13.7) a flush completes what went before at the target, so the flag is behind its data. The owner reads its flags by
// MPI_Get_accumulate (MPI_NO_OP): a load beside an accumulate would not be defined. Data and flags are in windows that
// a library may drive in two ways (Open MPI: osc pt2pt and sm), so a rank that waits for flags lets messages go on as
// well.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/signals.hpp"
#include "common/backends/mpi/methods.hpp"

#include <map>
#include <memory>
#include <vector>

namespace dlmb::mpi {

/// The flags of one plan and the memory of all ranks that its puts write to and its gets read. Ranks are those of the
/// world.
class SignalBoard {
public:
    /// Collective over the world. Appends to `windows`, which outlive it: locked for all ranks until they end. Throws
    /// Error where ranks do not say the same of their signals. `failed`: as of a Window.
    SignalBoard(Plan const& plan, Buffers const& buffers, Bootstrap& bootstrap, MPI_Comm world,
                std::vector<Window>& windows, std::string& failed);

    /// Collective in the sense that all ranks do so in each iteration: before any step.
    void begin();
    void watch(SignalWatch* const& watch) { watch_ = &watch; }

    [[nodiscard]] SignalTable const& table() const { return table_; }
    [[nodiscard]] MPI_Win window_of(Rank peer, BufferId buffer) const { return remote_windows_.at({peer, buffer}); }

    /// Whether a flag of this rank is raised.
    [[nodiscard]] bool is_raised(FlagId flag) {
        read(flag, 1);
        return seen_[flag] == iteration_;
    }
    /// How many of the flags are raised, up to the first one that is not.
    [[nodiscard]] std::size_t raised(FlagRange flags);
    /// Raises a flag of a peer or of this rank. It reaches a peer with flush().
    void raise(Rank peer, FlagId flag) {
        if (flags_ == MPI_WIN_NULL) {
            seen_[flag] = iteration_;
            return;
        }
        check(MPI_Accumulate(&iteration_, 1, MPI_UINT64_T, peer, static_cast<MPI_Aint>(flag * flag_bytes), 1,
                             MPI_UINT64_T, MPI_REPLACE, flags_),
              "MPI_Accumulate");
    }
    void flush(Rank peer) const {
        if (flags_ != MPI_WIN_NULL) {
            check(MPI_Win_flush(peer, flags_), "MPI_Win_flush");
        }
    }
    /// Data that a flag announced is there for this process, and what it has written for its peers.
    void sync_data() const {
        for (MPI_Win const window : data_) {
            check(MPI_Win_sync(window), "MPI_Win_sync");
        }
    }
    void note(StepId step, std::size_t signal) const {
        if (watch_ != nullptr && *watch_ != nullptr) {
            (*watch_)->seen(step, signal);
        }
    }

private:
    void read(FlagId first, std::size_t count);

    Rank me_;
    SignalTable table_;
    MPI_Win flags_ = MPI_WIN_NULL;  // of one rank there is none: some libraries refuse it
    std::vector<MPI_Win> data_;
    std::map<std::pair<Rank, BufferId>, MPI_Win> remote_windows_;  // of compile time only
    std::vector<std::uint64_t> seen_;                              // the flags of this rank as last read
    std::uint64_t iteration_ = 0;
    SignalWatch* const* watch_ = nullptr;
};

/// A step that is a Put or a WaitSignal.
[[nodiscard]] PreparedCall compile_signals(Operation const& operation, CompileContext const& context);

}  // namespace dlmb::mpi

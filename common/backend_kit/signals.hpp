// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The one-sided steps of a plan as the libraries that have flags in memory do them. Each rank has flags of flag_bytes:
// one per signal that it waits for, and one per peer whose permission it needs. A flag holds the number of the last
// iteration, from 1, that raised it, so none is ever reset.
//
// A rank may write to a peer when the peer has begun the iteration: then nobody reads what the one before delivered.
// It knows so from any signal of the peer in this iteration for which its put waits. Where there is none, the peer
// raises a flag when it begins: its permission.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb {

/// A number of a flag among those of the rank that has it.
using FlagId = std::uint64_t;

/// World ranks, the rank itself among them.
struct SentSignal {
    Rank peer = 0;
    std::size_t first = 0;  // of its blocks among those of the step
    std::size_t blocks = 0;
    FlagId flag = 0;      // of the peer
    BufferId buffer = 0;  // of the peer: targets are offsets there
};

struct PutSignals {
    StepId step = 0;
    std::vector<SentSignal> signals = {};
    std::vector<Rank> peers = {};  // of the signals, each once, the rank itself left out: the next ones after it first
    /// By peer: the flag of this rank that is its permission; no_flag: the put needs none.
    std::vector<FlagId> permissions = {};
};
inline constexpr FlagId no_flag = ~FlagId{0};

struct AwaitedSignals {
    StepId step = 0;
    FlagId first = 0;  // of this rank; the step's signals have the next ones
    std::size_t count = 0;
};

/// A flag of a peer that this rank raises when it begins an iteration.
struct Permission {
    Rank peer = 0;
    FlagId flag = 0;
};

struct SignalTable {
    std::vector<PutSignals> puts;
    std::vector<AwaitedSignals> waits;
    std::vector<Permission> granted;
    std::vector<Rank> peers;  // all others that signal this rank or are signalled by it, sorted
    std::size_t flags = 0;    // of this rank
};

/// Collective. Throws Error, on all ranks, where two ranks do not say the same of their signals.
[[nodiscard]] SignalTable match_signals(Plan const& plan, Bootstrap& bootstrap);

}  // namespace dlmb

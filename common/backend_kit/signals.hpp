// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The one-sided steps of a plan as the libraries that have flags in memory do them. Each rank has flags of flag_bytes:
// one per signal that it waits for, one per signal of its offers, by which the reader says that it has read, and one
// per peer whose permission it needs. A flag holds the number of the last iteration, from 1, that raised it, so none is
// ever reset.
//
// A rank may write to a peer when the peer has begun the iteration: then nobody reads what the one before delivered.
// It knows so from any signal of the peer in this iteration for which its put waits. Where there is none, the peer
// raises a flag when it begins: its permission. Who offers writes nothing to a peer but a flag, and not the next one
// before the peer has read.
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
    BufferId buffer = 0;  // of the peer: targets of a put are offsets there
};

/// The signal of an offer, where it is waited for.
struct OfferedBlocks {
    Rank peer = 0;
    std::size_t first = 0;            // of its blocks among those of the step
    FlagId read = 0;                  // of the peer: raised when all are read
    BufferId buffer = 0;              // of the peer
    std::vector<Bytes> offsets = {};  // there
};

/// Flags of this rank with numbers one after the other.
struct FlagRange {
    FlagId first = 0;
    std::size_t count = 0;
};

struct PutSignals {
    StepId step = 0;
    std::vector<SentSignal> signals = {};
    std::vector<Rank> peers = {};  // of the signals, each once, the rank itself left out: the next ones after it first
    /// By peer: the flag of this rank that is its permission; no_flag: the put needs none.
    std::vector<FlagId> permissions = {};
    FlagRange read = {};  // of an offer: by signal
};
inline constexpr FlagId no_flag = ~FlagId{0};

struct AwaitedSignals {
    StepId step = 0;
    FlagRange flags = {};                     // by signal
    std::vector<OfferedBlocks> offered = {};  // of a get: by signal
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

/// The buffers of this rank that peers write to or read from, each once.
[[nodiscard]] std::vector<BufferId> accessed_buffers(Plan const& plan);

/// Collective. Throws Error, on all ranks, where two ranks do not say the same of their signals.
[[nodiscard]] SignalTable match_signals(Plan const& plan, Bootstrap& bootstrap);

}  // namespace dlmb

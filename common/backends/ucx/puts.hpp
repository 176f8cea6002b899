// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals: ucp_put_nbx of the data; when these are complete, ucp_ep_flush_nbx, which ends when the peer has
// them; then ucp_put_nbx of the iteration's number into flags of the peer, which this polls in its own memory. Flags
// lie in memory of UCX, so that transports which can write it without the peer's help do. Offers and gets: the flag,
// then ucp_get_nbx of the data by who reads, then a flag back. (ucp_worker_fence instead of
// the flush does not order data that go by active messages and flags by shared memory, with UCX 1.13.1.)
#pragma once

#include "common/backend_kit/signals.hpp"
#include "common/backends/ucx/one_sided.hpp"

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace dlmb::ucx {

/// Blocks that a rank puts to one peer in one step, or gets behind one signal, and the flags that it raises then.
struct PeerAccess {
    Verb verb = Verb::put;
    Rank peer = 0;
    ucp_ep_h endpoint = nullptr;  // nullptr: the peer is the rank itself, and `copies` and `own_flags` are done instead
    FlagId permission = no_flag;  // of a get: the signal
    std::vector<Access> accesses = {};
    std::vector<RemoteMemory::Place> flags = {};
    std::vector<LocalWork> copies = {};
    std::vector<FlagId> own_flags = {};
};

/// A Put or a WaitSignal. A get has an access per signal.
struct SignalTask {
    StepId step = 0;
    std::vector<PeerAccess> accesses = {};
    FlagRange awaited = {};  // of a wait_signal; of an offer: that its blocks are read
    bool is_noted = false;   // by the watch: signals, awaited or read
};

/// All one-sided steps of a plan. The hot path: nothing is allocated, nothing virtual is called but by a watch.
class Puts {
public:
    /// Collective.
    Puts(Plan const& plan, Buffers const& buffers, SignalTable const& signals, Worker& worker);
    Puts(Puts const&) = delete;
    Puts& operator=(Puts const&) = delete;
    ~Puts() = default;

    void watch(SignalWatch* const& watch) { watch_ = &watch; }
    /// All ranks do so before the first step of an iteration.
    void begin(std::uint64_t iteration);
    /// The task of a step.
    [[nodiscard]] std::uint32_t task_of(StepId step) const;
    void start(std::uint32_t number);
    /// True: it is complete.
    [[nodiscard]] bool poll(std::uint32_t number);

private:
    enum class Stage : std::uint8_t { waiting, accessing, signalling, over };
    struct Running {
        RemoteAccesses accesses;
        Requests flags;
        Stage stage = Stage::over;
    };
    struct State {
        std::vector<Running> accesses;
        std::size_t seen = 0;
    };

    /// Collective. Memory that peers write to.
    void exchange_memory(Plan const& plan, Buffers const& buffers, SignalTable const& signals);
    [[nodiscard]] RemoteMemory::Place flag_of(Rank peer, FlagId flag) const;
    [[nodiscard]] SignalTask task_of(Put const& put, PutSignals const& signals, Buffers const& buffers) const;
    [[nodiscard]] SignalTask task_of(WaitSignal const& wait, AwaitedSignals const& signals,
                                     Buffers const& buffers) const;
    [[nodiscard]] bool is_raised(FlagId flag) const {
        return std::atomic_ref(flags_[flag]).load(std::memory_order_acquire) == iteration_;
    }
    [[nodiscard]] bool poll(PeerAccess const& access, Running& running);
    void signal(PeerAccess const& access, Requests& requests);
    void do_here(PeerAccess const& access);
    void note(StepId step, std::size_t signal) const;

    Worker& worker_;
    Rank me_;
    RemoteMemory memory_;
    std::uint64_t* flags_;  // of this rank
    AccessesInFlight in_flight_;
    std::vector<SignalTask> tasks_;
    std::vector<State> states_;        // of the tasks
    std::vector<PeerAccess> granted_;  // the permissions that this rank gives: a flag each
    std::vector<Requests> granting_;
    std::uint64_t iteration_ = 0;
    SignalWatch* const* watch_ = nullptr;
};

}  // namespace dlmb::ucx

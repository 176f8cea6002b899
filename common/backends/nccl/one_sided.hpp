// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals as calls of NCCL. It counts the signals from each rank, so the n-th one that a rank sends another is
// the n-th that this waits for, as plans have it, if both make these calls in plan order. A put of several blocks is as
// many signals: NCCL has no put without one, and none overtakes another between two ranks.
//
// A rank that grants a permission to write (signals.hpp) begins its iteration with a signal, which is the first that
// the other rank counts.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/signals.hpp"
#include "common/backends/nccl/calls.hpp"
#include "common/backends/nccl/registration.hpp"

#include <set>

namespace dlmb::nccl {

/// The steps of a plan in the order in which a stream does them: a WaitSignal comes right before the first step that
/// waits for it, so that it holds up nothing else; all others, and the WaitSignals among themselves, keep their order.
[[nodiscard]] std::vector<StepId> stream_order(Plan const& plan);

class OneSidedCalls {
public:
    /// `windows`: as register_signal_windows() returns them. `plan` and `buffers` must outlive it.
    OneSidedCalls(Plan const& plan, Buffers const& buffers, ncclComm_t world, SignalTable table,
                  std::vector<void*> windows);

    /// The permissions that this rank grants when it begins an iteration; may be empty.
    [[nodiscard]] OneSidedCall grants() const;
    /// The permissions that a Put has to wait for; may be empty. Of a rank whose signals were awaited before none is
    /// missing. Steps come in the order of the stream, here and below.
    [[nodiscard]] OneSidedCall permissions_for(StepId step);
    /// Of a Put or a WaitSignal.
    [[nodiscard]] OneSidedCall call_of(StepId step);

private:
    [[nodiscard]] OneSidedCall writes_of(Put const& put, PutSignals const& signals) const;
    [[nodiscard]] OneSidedCall waits_of(WaitSignal const& wait);

    Plan const& plan_;
    Buffers const& buffers_;
    ncclComm_t world_;
    SignalTable table_;
    std::vector<void*> windows_;
    std::set<Rank> permissions_;  // that are not waited for yet
};

/// Collective over the world. Windows for the buffers that puts of any rank read or write, by the number of the buffer;
/// nullptr: nobody puts from or to it. Adds them to `registration`. Unsupported, on all ranks, where the k-th buffers
/// of all ranks are not allocated alike. Throws Error.
[[nodiscard]] Expected<std::vector<void*>, Unsupported> register_signal_windows(Plan const& plan,
                                                                                Buffers const& buffers,
                                                                                Bootstrap& bootstrap, ncclComm_t world,
                                                                                Registration& registration);

}  // namespace dlmb::nccl

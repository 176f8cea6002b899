// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single steps for a program that decides them as it goes: the messages and algorithms of the backend's methods,
// on host memory of the program. A backend's compile() matches the sends and receives of all ranks; here ranks agree
// on nothing beforehand, and the order of the steps says what belongs together.
#pragma once

#include "common/backends/ucx/messages.hpp"
#include "common/backends/ucx/methods.hpp"

#include <span>
#include <string>

namespace dlmb::ucx {

/// On one thread, that of the bootstrap.
class StepRunner {
public:
    /// Collective over the bootstrap, which outlives it: connects each rank with every other one. `methods`: those that
    /// run() may be asked for; each set of settings of UCX among them needs a context of its own. Equal on all ranks.
    /// Throws UsageError for an unknown method or knob, Error where UCX fails.
    StepRunner(BackendContext const& context, std::span<MethodChoice const> methods);

    /// Why `choice` cannot do the one step of `plan`; empty: it can. The same on all ranks of the step's group, if they
    /// ask about the same method and step. Exchanges: all blocks of all ranks are equal.
    [[nodiscard]] std::string refusal(Plan const& plan, MethodChoice const& choice) const;

    /// Collective over the group of the step, which is all that `plan` has: returns when this rank's data is complete
    /// and no rank needs this one's worker any more, so that it may wait inside of another library. While it waits it
    /// keeps the bootstrap's library going. `choice`: one that refusal() does not refuse; equal on the ranks of the
    /// group, as are the settings of the step that are no addresses. Groups that have ranks in common come in one
    /// order on these. Throws Error where UCX fails.
    void run(Plan const& plan, Buffers const& buffers, MethodChoice const& choice);

private:
    [[nodiscard]] std::byte* scratch(Bytes bytes);

    Bootstrap& bootstrap_;
    Workers workers_;
    MethodTable methods_;
    Allocation scratch_;  // of the step that runs
};

}  // namespace dlmb::ucx

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers that the parts of validate() share.
#pragma once

#include "common/formats/plan/validate.hpp"

namespace dlmb::validation {

using Problems = std::vector<PlanProblem>;

/// `rank 2 step 0 "dispatch"`.
[[nodiscard]] std::string name_of(Plan const& plan, StepId step);

/// Adds name_of(plan, step) + " " + text.
void report(Problems& problems, Plan const& plan, StepId step, std::string_view text);

struct RankStep {
    Rank rank = 0;
    StepId step = 0;
};

/// Steps that complete together: one collective on all its members, or one send and its receive.
using MatchedSteps = std::vector<RankStep>;

/// Groups are known to all their members; collective steps pair up in order and agree; sends and receives pair up in
/// order per (source, destination, channel) and agree. Returns the matches.
[[nodiscard]] std::vector<MatchedSteps> match_steps(std::span<Plan const> all_ranks, Problems& problems);

/// A WaitSignal and a Put that has a signal of it.
struct SignalledSteps {
    RankStep put;
    RankStep wait;
    bool reads = false;  // an offer and a get
};

/// Signals pair up in order per (source, destination), and their blocks agree. Returns each pair of steps once.
[[nodiscard]] std::vector<SignalledSteps> match_signals(std::span<Plan const> all_ranks, Problems& problems);

}  // namespace dlmb::validation

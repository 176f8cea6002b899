// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of validate(), one file each. A part may rely on what the parts listed before it have proved.
#pragma once

#include "common/plan/group_index.hpp"
#include "common/plan/validate.hpp"

namespace dlmb::validation {

using Problems = std::vector<Problem>;

/// `rank 2 step 0 "dispatch"`.
[[nodiscard]] std::string name_of(Plan const& plan, StepId step);

/// Adds name_of(plan, step) + " " + text.
void report(Problems& problems, Plan const& plan, StepId step, std::string_view text);

/// One plan's groups: each contains the rank, names no rank twice and is listed once.
void check_groups(Plan const& plan, Problems& problems);

/// One plan, every step for itself: ids in range, waits for earlier steps only, blocks in order and inside their
/// buffer, whole elements.
void check_steps(Plan const& plan, Problems& problems);

/// One plan: the steps of a batch wait for the same steps.
void check_batches(Plan const& plan, Problems& problems);

/// One plan: nothing overwrites a region that another step delivered, or one that an earlier step sends.
void check_regions(Plan const& plan, Problems& problems);

struct RankStep {
    Rank rank = 0;
    StepId step = 0;
};

/// Steps that complete together: one collective on all its members, or one send and its receive.
using MatchedSteps = std::vector<RankStep>;

/// Groups are known to all their members; collective steps pair up in order and agree. Returns the matches.
[[nodiscard]] std::vector<MatchedSteps> match_collectives(std::span<Plan const> all_ranks, GroupIndex const& index,
                                                          Problems& problems);

/// Sends and receives pair up in order per (source, destination, channel) and agree.
[[nodiscard]] std::vector<MatchedSteps> match_messages(std::span<Plan const> all_ranks, GroupIndex const& index,
                                                       Problems& problems);

/// Runs all ranks' plans: a step is posted when its predecessors are complete; it completes when all parties of its
/// match are posted.
void check_deadlock(std::span<Plan const> all_ranks, std::span<MatchedSteps const> matches, Problems& problems);

}  // namespace dlmb::validation

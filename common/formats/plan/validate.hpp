// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Proves a set of plans consistent before anything is sent: a mistake here would be a hang or silent corruption there.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb {

struct PlanProblem {
    Rank rank = 0;
    StepId step = 0;
    std::string text;  // "rank 2 step 0 \"dispatch\" expects 4096 B from rank 5, rank 5 sends 8192 B"
};

/// One rank's plan on its own: ids in range, steps acyclic, blocks ordered, inside their buffer and not overlapping,
/// delivered regions never overwritten by a later step, whole elements.
[[nodiscard]] std::vector<PlanProblem> validate_rank(Plan const& plan);

/// All ranks (index = world rank): each plan on its own, and together: groups equal on all members, collective steps of
/// a group in the same order with equal arguments, every send with a receive of the same size, no buffer of its own for
/// what comes from a shared one, no cross-rank deadlock under blocking (rendezvous) semantics in the order of
/// ReadyQueue. Empty: consistent.
[[nodiscard]] std::vector<PlanProblem> validate(std::span<Plan const> all_ranks);

}  // namespace dlmb

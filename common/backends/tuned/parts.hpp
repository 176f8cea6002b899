// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan cut where the backend or the method changes, and whether all ranks cut alike: parts of one backend in a row
// are an epoch, and between epochs all ranks wait until nothing is in flight. A rank with another order would wait for
// ever; here it is named instead.
#pragma once

#include "common/backend_kit/chooser.hpp"

#include <span>

namespace dlmb::tuned {

/// Consecutive steps that one compiled plan of one backend does.
struct Part {
    StepChoice choice;  // of its first step that communicates
    std::vector<StepId> steps;
};

/// "ucx/ring": equal for choices that may share a part. The rules behind them may differ.
[[nodiscard]] std::string name_of(StepChoice const& choice);

/// `choices`: by StepId. A Compute step stays with the steps before it; with those behind it at the beginning of a
/// plan, or where it packs, with the next that communicates. None: nothing communicates.
[[nodiscard]] std::vector<Part> cut(Plan const& plan, std::vector<StepChoice> const& choices);

/// "0-1:ucx/ring:r003 2:mpi/default:none 3-4:compute": steps in plan order, those of one choice and rule together.
[[nodiscard]] std::string step_text(Plan const& plan, std::span<StepChoice const> choices);

/// Collective. The parts to run, as many and of the same choices on every rank: `mine`, or on a rank that communicates
/// with nobody those of the others with its computations in the first. Unsupported, the same on all ranks, where parts
/// stand in different orders, or where the ends of one operation are in different parts: it names rank, step and choice
/// of both. `idle`: who runs a plan in which no rank communicates.
[[nodiscard]] Expected<std::vector<Part>, Unsupported> agreed_parts(Plan const& plan, std::vector<Part> mine,
                                                                    StepChoice const& idle, Bootstrap& bootstrap);

}  // namespace dlmb::tuned

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Places messages in schedules that are drawn in time slots (Chimera, zero bubble): sender and receiver issue a message
// at the end of the slot in which it is made. All ranks then issue their messages in one order of time, so a rank may
// wait for all that it issues and no circle of waiting can arise; and no rank waits for what is not yet made.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

#include <functional>
#include <span>
#include <vector>

namespace dlmb::pipeline_p2p {

/// A Task or a GradientSync of this rank and the slot in which it begins.
struct TimedAction {
    Action action;
    Nanoseconds slot = 0;
};

/// When the output of a work of any rank is there: the end of its slot.
using EndOf = std::function<Nanoseconds(Work const&)>;

/// `own` in the order of their slots.
[[nodiscard]] std::vector<Action> with_transfers(Shape const& shape, std::span<TimedAction const> own,
                                                 EndOf const& end_of);

/// The same for orders without a table: slots are those of a simulation in which each pass takes one slot.
[[nodiscard]] std::vector<Action> with_transfers(Shape const& shape, int rank,
                                                 std::span<std::vector<Task> const> tasks_of_all_ranks);

/// Passes and gradient synchronisations of one rank in the order of their slots, at most one in each. Passes take
/// 2D*ceil(N/D) + D/f - 2 slots (N a multiple of D); with one pair of pipes the synchronisations add one slot.
[[nodiscard]] std::vector<TimedAction> chimera_timetable(Shape const& shape, int rank);

}  // namespace dlmb::pipeline_p2p

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules in time. How long they take when communication takes no time, simulated from the orders of all ranks
// (tests/golden/pipeline_makespan_test.cpp has the published forms). And where messages go in schedules that are drawn
// in time slots (Chimera, zero bubble): sender and receiver issue a message at the end of the slot in which it is made.
// All ranks then issue their messages in one order of time, so a rank may wait for all that it issues and no circle of
// waiting can arise; and no rank waits for what is not yet made.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pipeline_p2p/schedules.hpp"

#include <functional>
#include <span>
#include <vector>

namespace dlmb::pipeline_p2p {

/// Times of one pass through one stage, in any unit. `backward` is the whole pass, backward_input + backward_weight its
/// parts.
struct Durations {
    Nanoseconds forward = 1;
    Nanoseconds backward = 1;
    Nanoseconds backward_input = 1;
    Nanoseconds backward_weight = 1;

    [[nodiscard]] Nanoseconds of(PipelineTask const& task) const;
};

/// When each task of each rank begins where communication takes no time, by a simulation of all ranks' orders.
struct Timetable {
    std::vector<std::vector<PipelineTask>> tasks;  // by rank, in its order
    std::vector<std::vector<Nanoseconds>> starts;  // of these
    Nanoseconds makespan = 0;
};
[[nodiscard]] Timetable ideal_timetable(ScheduleShape const& shape, Durations const& durations);

/// Computation of one rank, the same on all.
[[nodiscard]] Nanoseconds compute_per_rank(ScheduleShape const& shape, Durations const& durations);

/// A PipelineTask or a GradientSync of this rank and the slot in which it begins.
struct TimedAction {
    ScheduleAction action;
    Nanoseconds slot = 0;
};

/// When the output of a work of any rank is there: the end of its slot.
using EndOf = std::function<Nanoseconds(StageWork const&)>;

/// `own` in the order of their slots.
[[nodiscard]] std::vector<ScheduleAction> with_transfers(ScheduleShape const& shape, std::span<TimedAction const> own,
                                                         EndOf const& end_of);

/// The same for tasks_of() without a table: slots are those of a simulation in which each pass takes one slot.
[[nodiscard]] std::vector<ScheduleAction> with_transfers(ScheduleShape const& shape, int rank);

/// Passes and gradient synchronisations of one rank in the order of their slots, at most one in each. Passes take
/// 2D*ceil(N/D) + D/f - 2 slots (N a multiple of D); with one pair of pipes the synchronisations add one slot.
[[nodiscard]] std::vector<TimedAction> chimera_timetable(ScheduleShape const& shape, int rank);

}  // namespace dlmb::pipeline_p2p

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of a trace: the same bytes, in the same order, over any backend. They hold kinds, sizes, order and groups, and
// no name, path or host of the trace.
#pragma once

#include "common/formats/plan/plan_source.hpp"
#include "common/tools/plan/trace.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace dlmb::trace {

/// When each step of a plan began and how long it took in the run, from the begin of the iteration on the rank's own
/// clock; nothing where the trace does not say it.
using RecordedTimes = std::vector<std::optional<std::pair<Nanoseconds, Nanoseconds>>>;

enum class MessageWaits { all, receives, none };

/// The plans that are asked for.
struct PlanRequest {
    std::optional<int> iteration = std::nullopt;  // of the trace; none: all that is in it
    // receives: a collective waits for no send; none: also for no receive without a known wait, a computation for none
    MessageWaits waits = MessageWaits::all;
    std::vector<RecordedTimes>* recorded = nullptr;  // by rank; filled in when the plan of the rank is made
};

/// Throws UsageError for a trace that is not complete, or that has something which a plan does not have; the message
/// says what. Each step waits for the one before; sends and receives that follow each other are in flight together, and
/// where the trace tells its waits, a message or collective that is not complete holds nothing back before its wait.
/// Between them stands the time for which the rank did not communicate, where the trace has times: a computation, which
/// waits for the receives that the rank had waited for, or for all before it where the trace does not tell its waits.
/// Labels begin with forward, backward or optimizer where the trace says so, else with the kind of operation.
/// Reductions are sums. The source refers to `trace`.
[[nodiscard]] PlanSource plans_of(Trace const& trace, PlanRequest const& request);

}  // namespace dlmb::trace

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of a trace: the same bytes, in the same order, over any backend. They hold kinds, sizes, order and groups, and
// no name, path or host of the trace.
#pragma once

#include "common/plan/plan_source.hpp"
#include "common/trace/trace.hpp"

#include <optional>

namespace dlmb::trace {

/// What a user says of what the trace leaves open.
struct PlanAssumptions {
    std::optional<int> root;        // rank in the group, of a broadcast, reduce, gather or scatter without one
    std::optional<int> iterations;  // how often each rank repeats its operations
};

/// What the plans are of.
struct PlanRequest {
    PlanAssumptions assumptions = {};
    std::optional<int> iteration = std::nullopt;  // of the trace; none: all that is in it
    bool computes_behind_receives = true;         // false: a computation waits for no message
};

/// How many iterations the trace has, the same on all ranks: those that it marks, or those that are assumed. 0: it
/// marks none. With `assumed` iterations each operation is given to one; those before the first are given to none.
/// Throws UsageError where ranks differ, or do not repeat their operations so often.
[[nodiscard]] int find_iterations(Trace& trace, std::optional<int> assumed);

/// Throws UsageError for a trace that is not complete, or that has something which a plan does not have; the message
/// says what. Each step waits for the one before; sends and receives that follow each other are in flight together.
/// Between them stands the time for which the rank did not communicate, where the trace has times. Labels begin with
/// forward, backward or optimizer where the trace says so, else with the kind of operation. Reductions are sums. The
/// source refers to `trace`.
[[nodiscard]] PlanSource plans_of(Trace const& trace, PlanRequest const& request);

}  // namespace dlmb::trace

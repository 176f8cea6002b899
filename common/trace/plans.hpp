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
    std::optional<int> root;  // rank in the group, of a broadcast, reduce, gather or scatter without one
};

/// Throws UsageError for a trace that is not complete, or that has something which a plan does not have; the message
/// says what. Each step waits for the one before; sends and receives that follow each other are in flight together.
/// Reductions are sums. The source refers to `trace`.
[[nodiscard]] PlanSource plans_of(Trace const& trace, PlanAssumptions const& assumptions);

}  // namespace dlmb::trace

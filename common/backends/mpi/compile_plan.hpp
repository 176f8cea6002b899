// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From the steps of a plan to prepared calls. Not for the timed region.
#pragma once

#include "common/backends/mpi/methods.hpp"

namespace dlmb::mpi {

/// Facts that all ranks have to know about each other's plans before any of them is compiled: a native call must be
/// made by all members of a group or by none.
struct PlanRequirements {
    bool concurrent = false;  // on some rank steps overlap: blocking calls could wait in a circle
    bool reduces = false;     // some rank has an allreduce, a reduce or a reduce_scatter
    bool large = false;       // some exchange of some rank has a count or displacement beyond int
    bool in_place = false;    // some exchange of some rank works in place
    std::string refusal;      // why some rank cannot run its plan; empty: all can
};

/// This rank's own plan.
[[nodiscard]] PlanRequirements plan_requirements(Plan const& plan, ChosenMethod const& method,
                                                 CallLimits const& limits);

/// Collective. The same answer on every rank; the refusal is that of the lowest rank that has one.
[[nodiscard]] PlanRequirements requirements_of_all(PlanRequirements const& own, Bootstrap& bootstrap);

/// The steps of a plan in an order in which every rank may come to those that its groups do together.
[[nodiscard]] std::vector<StepId> collective_order(Plan const& plan);

/// By step. Collective. Fills in what `context` has of a step, and its `tags`.
[[nodiscard]] std::vector<PreparedCall> compile_plan(CompileContext context);

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What all ranks have to know about each other's plans before any of them is compiled: a native call must be made by
// all members of a group or by none.
#pragma once

#include "common/backends/mpi/methods.hpp"

#include <string>

namespace dlmb::mpi {

struct PlanRequirements {
    bool concurrent = false;  // on some rank steps overlap: blocking calls could wait in a circle
    bool reduces = false;     // some rank has an allreduce or reduce_scatter
    bool large = false;       // some exchange of some rank has a count or displacement beyond int
    std::string refusal;      // why some rank cannot run its plan; empty: all can
};

/// This rank's own plan.
[[nodiscard]] PlanRequirements plan_requirements(Plan const& plan, ChosenMethod const& method, Limits const& limits);

/// Collective. The same answer on every rank; the refusal is that of the lowest rank that has one.
[[nodiscard]] PlanRequirements agree(PlanRequirements const& own, Bootstrap& bootstrap);

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans as GOAL text, the point-to-point schedule language of network simulators (LogGOPSim). Collectives are lowered
// to one plain algorithm each; what a library would really do is not modelled.
#pragma once

#include "common/plan/plan.hpp"

#include <span>
#include <string>

namespace dlmb {

/// For plans that validate() accepts. Bytes to self are left out. Lowering:
///   exchange, all_gather, broadcast   linear: one message per pair of ranks, all posted together
///   reduce_scatter                    ring, ranks - 1 rounds
///   all_reduce                        ring reduce-scatter, then ring all-gather
///   compute                           calc, in ns; arithmetic of reductions costs nothing
/// Sends and receives keep their channel as tag; every collective has a tag of its own above all channels.
[[nodiscard]] std::string to_goal(std::span<Plan const> all_ranks);

}  // namespace dlmb

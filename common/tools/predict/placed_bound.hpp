// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The contention model `bound`: what plans take at least on a topology. All that an iteration sends, link by link, and
// its longest chain of latencies, without events on links (network/link_loads.hpp). The messages are those that the
// simulator runs, so that no simulation of the same plans and algorithms is below the bound. Computations take no time.
#pragma once

#include "common/formats/plan/plan_source.hpp"
#include "common/tools/predict/network/link_loads.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/machine.hpp"

#include <string>
#include <vector>

namespace dlmb::predict {

/// The name of an allreduce by switches, which add what their nodes send: each node sends its vector once and receives
/// the sum once, in twice as many latencies as the tree of switches is deep.
inline constexpr std::string_view in_network = "in_network";

/// `nodes`: of each rank. `bytes_per_ps`: that a node injects. Allreduces may be in_network. Throws UsageError where
/// they are and the topology has no such switches.
[[nodiscard]] Bound bound_of_plans(PlanSource const& plans, LoweringChoice choice, Machine const& machine,
                                   Interconnect const& interconnect, std::vector<int> const& nodes,
                                   double bytes_per_ps);

}  // namespace dlmb::predict

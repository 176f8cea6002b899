// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a reader of the numbers should know: a build, a placement or a machine that makes them worse than they could be.
// Each function returns nothing where nothing is wrong.
#pragma once

#include "common/record/environment.hpp"
#include "common/record/placement.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::record {

/// Debug builds and sanitizers.
[[nodiscard]] std::vector<std::string> build_warnings();

/// Nodes that are not like rank 0's.
[[nodiscard]] std::vector<std::string> node_warnings(Placement const& placement);

/// Unbound ranks, and more ranks than processing units. `units` are the processing units that each host offers this
/// launch.
[[nodiscard]] std::vector<std::string> placement_warnings(std::vector<RankPlace> const& ranks,
                                                          std::map<std::string, int> const& units);

/// Bound ranks that run on different threads of one core.
[[nodiscard]] std::vector<std::string> sibling_warnings(std::vector<CoreUse> const& ranks);

/// A clock that changes, and other work. `ranks_on` and `conditions` by host.
[[nodiscard]] std::vector<std::string> condition_warnings(std::map<std::string, int> const& ranks_on,
                                                          std::map<std::string, NodeConditions> const& conditions);

/// Ranks that run far from their device, and devices that are a test double.
[[nodiscard]] std::vector<std::string> device_warnings(Environment const& environment);

}  // namespace dlmb::record

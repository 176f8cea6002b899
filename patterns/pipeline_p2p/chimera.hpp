// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Chimera's table: which rank does what in which slot.
#pragma once

#include "patterns/pipeline_p2p/timetable.hpp"

#include <vector>

namespace dlmb::pipeline_p2p {

/// Passes and gradient synchronisations of one rank in the order of their slots, at most one in each. Passes take
/// 2D*ceil(N/D) + D/f - 2 slots (N a multiple of D); with one pair of pipes the synchronisations add one slot.
[[nodiscard]] std::vector<TimedAction> chimera_timetable(Shape const& shape, int rank);

}  // namespace dlmb::pipeline_p2p

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether all ranks run the same parts in the same order. Between epochs all ranks meet, so a rank with another order
// would wait for ever; here it is named instead.
#pragma once

#include "common/backends/tuned/parts.hpp"

namespace dlmb::tuned {

/// Collective. The parts to run, as many and of the same choices on every rank: `mine`, or on a rank that communicates
/// with nobody those of the others with its computations in the first. Unsupported, the same on all ranks, where parts
/// stand in different orders, or where the ends of one operation are in different parts: it names rank, step and choice
/// of both. `idle`: who runs a plan in which no rank communicates.
[[nodiscard]] Expected<std::vector<Part>, Unsupported> agree(Plan const& plan, std::vector<Part> mine,
                                                             StepChoice const& idle, Bootstrap& bootstrap);

}  // namespace dlmb::tuned

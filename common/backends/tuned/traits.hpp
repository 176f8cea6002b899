// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a chooser is asked about each step of a plan.
#pragma once

#include "common/backend_kit/chooser.hpp"

namespace dlmb::tuned {

/// By world rank: the same number for ranks that share a node.
using NodeOfRank = std::vector<Rank>;
/// Collective.
[[nodiscard]] NodeOfRank nodes_of(Bootstrap& bootstrap);

/// Collective. By StepId. Where ranks know different things of a step (an exchange), these are told to all.
[[nodiscard]] std::vector<StepTraits> traits_of(Plan const& plan, MemoryKind memory, NodeOfRank const& nodes,
                                                Bootstrap& bootstrap);

}  // namespace dlmb::tuned

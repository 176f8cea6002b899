// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The keys by which a chooser is asked about each step of a plan, and what ranks tell each other for that.
#pragma once

#include "common/backend_kit/blobs.hpp"
#include "common/backend_kit/chooser.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/table/query.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dlmb::tuned {

/// The same on all ranks of a step, and so likely another for every other one that 2^20 steps collide once in 2^24
/// plans. A send and its receive have one.
using OperationKey = std::uint64_t;
inline constexpr OperationKey no_operation = 0;  // of Compute

/// By StepId.
[[nodiscard]] std::vector<OperationKey> operation_keys(Plan const& plan);

/// By world rank: the same number for ranks that share a node.
using NodeOfRank = std::vector<Rank>;

/// Collective. By StepId; nothing: no table has rules for it. Where ranks know different things of a step (an
/// exchange), these are told to all.
[[nodiscard]] std::vector<std::optional<tuning::Key>> step_keys(Plan const& plan, MemoryKind memory,
                                                                NodeOfRank const& nodes, Bootstrap& bootstrap);

}  // namespace dlmb::tuned

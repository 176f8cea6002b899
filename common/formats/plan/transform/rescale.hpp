// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded plans for another number of ranks. With fewer ranks, each does what the recorded rank of its number did, and
// groups lose the others. With a multiple of them, everything is there several times: a group of all ranks grows, other
// groups are repeated.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <functional>
#include <span>
#include <vector>

namespace dlmb {

/// The rule for the sizes on a group that is larger or smaller than recorded. A vector that is reduced or broadcast
/// stays as it is in all of them.
///   preserve_skew  an exchange keeps its bytes per rank and its shape: with fewer ranks the recorded matrix is merged
///                  into fewer rows and columns, with more it is repeated
///   uniform        an exchange keeps its bytes per rank, in equal blocks
///   truncate       what goes to and comes from ranks that are left out is left out; fewer ranks only
/// What is gathered or scattered keeps its size as a whole, in larger or smaller parts; with truncate it keeps its
/// parts.
enum class Rescale { preserve_skew, uniform, truncate };

/// The plans of `ranks` ranks, without buffers. `recorded`: by rank. Throws UsageError where `how` cannot make them.
[[nodiscard]] std::vector<Plan> rescaled(std::span<Plan const> recorded, int ranks, Rescale how);

/// The plan without the steps for which `is_left_out`; who waited for one waits for what that waited for.
[[nodiscard]] Plan without(Plan plan, std::function<bool(Step const&)> const& is_left_out);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Random traffic for backends that take turns: any mix of operations and sizes, in the same order on all ranks.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>

namespace dlmb::tuned {

/// Rank `me`'s plan of the random traffic `seed` over `ranks` ranks: two to six operations (allreduce, allgather,
/// broadcast, ragged exchange, messages around a ring), each over all ranks or over the two halves, each waiting for
/// none, some or all of the earlier ones.
[[nodiscard]] Plan random_plan(std::uint64_t seed, Rank me, int ranks);

}  // namespace dlmb::tuned

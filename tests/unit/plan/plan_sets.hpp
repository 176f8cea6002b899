// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plan sets of all ranks that the tests of common/formats/plan start from.
#pragma once

#include "common/formats/plan/validate.hpp"
#include "tests/unit/plan/plans_of.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dlmb::test {

using ByteMatrix = std::function<Bytes(Rank from, Rank to)>;

/// One exchange "dispatch" over all ranks.
[[nodiscard]] std::vector<Plan> exchange_plans(int ranks, ByteMatrix const& bytes);

/// Every kind of operation on four ranks, one after the other; the step ids are below.
[[nodiscard]] std::vector<Plan> mixed_plans();

namespace mixed {
inline constexpr StepId route = 0;  // compute
inline constexpr StepId dispatch = 1;
inline constexpr StepId combine = 2;
inline constexpr StepId gather = 3;
inline constexpr StepId reduce = 4;
inline constexpr StepId scatter = 5;
inline constexpr StepId broadcast = 6;
inline constexpr StepId recv = 7;        // from the rank before, posted together with
inline constexpr StepId send = 8;        // to the next rank
inline constexpr StepId reduce_to = 9;   // phase "rooted", to and from group rank 1
inline constexpr StepId gather_to = 10;  // shares of 8, 0, 24 and 16 B
inline constexpr StepId scatter_from = 11;
inline constexpr StepId barrier = 12;
}  // namespace mixed

/// All texts, one per line: for messages of failed tests and for comparing.
[[nodiscard]] std::string texts(std::vector<PlanProblem> const& problems);

}  // namespace dlmb::test

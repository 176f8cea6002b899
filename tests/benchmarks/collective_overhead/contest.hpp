// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Times loops in turns, so that drift of the machine hits all alike: in each round one burst of each, in an order
// that rotates, each after a barrier; a burst takes as long as on its slowest rank.
#pragma once

#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <functional>
#include <span>
#include <vector>

namespace dlmb::benchmark {

using statistics::median;

using Loop = std::function<void(int iterations)>;

/// Collective; equal on all ranks. By loop, then by round: nanoseconds per iteration.
[[nodiscard]] std::vector<std::vector<double>> compare(Bootstrap& bootstrap, std::span<Loop const> loops, int rounds,
                                                       int burst);

/// The median over rounds of subject / reference: what both have in common in a round cancels.
[[nodiscard]] double median_ratio(std::vector<double> const& subject, std::vector<double> const& reference);

}  // namespace dlmb::benchmark

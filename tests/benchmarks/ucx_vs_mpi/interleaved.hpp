// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Times compiled plans on the same buffers, interleaved: every round runs each of them once, in a random order and then
// in its reverse, so that none always follows the same other one: what that one leaves in the caches changes the next.
// One sample is a burst of iterations after a barrier, from the first rank's start to the last rank's end. All ranks
// are on one node, where they have one clock.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <vector>

namespace dlmb::benchmark {

struct TimedPlan {
    CompiledPlan* plan = nullptr;
    Backend* backend = nullptr;
};

/// Nanoseconds per iteration, over rounds.
struct Times {
    double median = 0;
    double least = 0;  // what other work on the machine disturbs least
};

/// Collective. By timed; equal on all ranks.
[[nodiscard]] std::vector<Times> time_interleaved(Bootstrap& bootstrap, std::vector<TimedPlan> const& plans,
                                                  int rounds);

}  // namespace dlmb::benchmark

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Times candidates on the same buffers, interleaved: every round runs each of them once, in an order that rotates. One
// sample is a burst of iterations after a barrier; the headline is the median over rounds of the slowest rank's time.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dlmb::benchmark {

struct Candidate {
    std::string name;
    std::function<void()> iteration;
};

struct Rounds {
    int count = 0;
    int burst = 0;  // iterations per sample
};

/// Enough rounds for a steady median within about a second per candidate.
[[nodiscard]] Rounds rounds_for(Bytes bytes_per_rank);

/// Collective. Nanoseconds per iteration, one median per candidate; equal on all ranks.
[[nodiscard]] std::vector<double> medians(Bootstrap& bootstrap, std::vector<Candidate> const& candidates,
                                          Rounds rounds);

}  // namespace dlmb::benchmark

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What samples of a whole launch need to begin together: the common clock, how long it takes until all ranks know a
// start, and the choice of a method for each cell.
#pragma once

#include "common/measure/sample_start.hpp"
#include "common/measure/start_request.hpp"

namespace dlmb::measure {

/// What the choice rests on, the same on all ranks.
struct StartFacts {
    bool oversubscribed = false;  // ranks take turns on processing units
    double late_share = 0;        // of trial starts, 0..1
    Nanoseconds margin_ns = 0;
    Nanoseconds clock_error_ns = 0;  // largest over ranks
};

/// `sample_ns`: what a sample is expected to take. The clock is good where its error is at most 5 % of that; a window
/// can be kept where no rank waits for its turn, at most a quarter of the trial starts were late and the margin is at
/// most 1 ms.
[[nodiscard]] StartPlan choose_start(StartRequest request, StartFacts const& facts, double sample_ns);

class CommonStart {
public:
    /// Collective: synchronises clocks and tries out some starts. `bootstrap` outlives it.
    CommonStart(Bootstrap& bootstrap, StartRequest request, ClockOptions clock = {});

    [[nodiscard]] CommonClock& clock() { return clock_; }
    /// Ranks have to yield where they wait.
    [[nodiscard]] bool oversubscribed() const { return facts_.oversubscribed; }

    /// Collective, the same on all ranks. `sample_ns`: as rank 0 expects it.
    [[nodiscard]] StartPlan plan(double sample_ns);

private:
    void measure_margin();
    void try_out();

    Bootstrap& bootstrap_;
    StartRequest request_;
    CommonClock clock_;
    StartFacts facts_;
};

}  // namespace dlmb::measure

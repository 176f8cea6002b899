// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks begin a sample together. window: at a time that lies a margin after the last rank's arrival, which the
// barrier tells to all; barrier: as each rank leaves the barrier. CommonStart finds out once per launch what is
// possible and chooses for each cell; SampleStart waits before each sample.
#pragma once

#include "common/measure/clock/common_clock.hpp"

#include <cstdint>
#include <string_view>

namespace dlmb::measure {

/// How samples are to begin. automatic: window where it can be kept and the clock is good for the cell, else barrier.
enum class StartRequest : std::uint8_t { automatic, barrier, window };

enum class StartMethod : std::uint8_t { barrier, window };
[[nodiscard]] constexpr std::string_view name_of(StartMethod method) {
    return method == StartMethod::window ? "window" : "barrier";
}

struct StartPlan {
    StartMethod method = StartMethod::barrier;
    Nanoseconds margin_ns = 0;   // window: from the last arrival to the start
    bool clock_is_good = false;  // times of different ranks may be compared
};

class SampleStart {
public:
    static constexpr Nanoseconds margin_most_ns = 10'000'000;

    /// `bootstrap` and `clock` outlive it. `yield`: ranks take turns on processing units.
    SampleStart(Bootstrap& bootstrap, CommonClock const& clock, StartPlan const& plan, bool yield);

    /// Collective, untimed. Returns when this rank is to begin.
    void wait();
    /// This rank learned of the last start when it was over already: the ranks did not begin together.
    [[nodiscard]] bool was_late() const { return was_late_; }
    [[nodiscard]] bool can_be_late() const { return plan_.method == StartMethod::window; }

    /// To be told alike on all ranks: of `taken` samples `late` were late on any. More than 5 % double the margin.
    void note(std::uint64_t late, std::uint64_t taken);
    [[nodiscard]] StartPlan const& plan() const { return plan_; }

private:
    Bootstrap* bootstrap_;
    CommonClock const* clock_;
    StartPlan plan_;
    Idle idle_;
    bool was_late_ = false;
    std::uint64_t late_ = 0;  // since the margin is what it is
    std::uint64_t taken_ = 0;
};

/// Facts that decide the choice, the same on all ranks.
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

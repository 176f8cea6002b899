// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks begin a sample together. window: at a time that lies a margin after the last rank's arrival, which the
// barrier tells to all; barrier: as each rank leaves the barrier.
#pragma once

#include "common/measure/common_clock.hpp"

#include <string_view>

namespace dlmb::measure {

enum class StartMethod : std::uint8_t { barrier, window };
[[nodiscard]] std::string_view name_of(StartMethod method);

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

}  // namespace dlmb::measure

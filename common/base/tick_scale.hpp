// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Time for the ends of steps, where a clock read would cost more than everything else that a plan adds: the processor's
// own counter, turned into now_ns()'s time when somebody asks.
#pragma once

#include "common/base/clock.hpp"

#include <read_ticks.hpp>

namespace dlmb {

/// Relates read_ticks() to now_ns(). A value; cheap enough to be made once per sample. Its rate is what the counter did
/// since the process started, so it is off by a clock read (50 ns) over that time: below 1e-6 after 0.1 s.
class TickScale {
public:
    TickScale();
    /// The time of a moment near this object's making: exact to two clock reads.
    [[nodiscard]] Nanoseconds time_of(Ticks ticks) const;

private:
    Ticks ticks_;
    Nanoseconds time_ns_;
    double ns_per_tick_;
};

}  // namespace dlmb

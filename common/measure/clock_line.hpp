// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Offset and drift of a clock against a reference, from offsets measured again and again. A value; it reads no clock.
#pragma once

#include "common/measure/clock_offset.hpp"

#include <deque>

namespace dlmb::measure {

struct MeasuredOffset {
    Nanoseconds local_ns = 0;  // when, on the client's clock: the middle of the search
    OffsetBracket bracket;
};

/// When a slope through measured offsets is a drift and not noise.
struct DriftRule {
    std::size_t points = 20;
    Nanoseconds spread_ns = 1'000'000'000;
};

class ClockLine {
public:
    explicit ClockLine(DriftRule rule = {}) : rule_(rule) {}

    /// Takes a measurement and goes through it: the slope is that of least squares over the last 64 offsets (none
    /// before the rule is met), the height the fitted one where the bracket allows it, else the nearest that it allows.
    /// Returns the most by which at(local_ns) was wrong before.
    Nanoseconds correct(MeasuredOffset const& measured);

    /// The reference's time when this clock shows `local_ns`.
    [[nodiscard]] Nanoseconds at(Nanoseconds local_ns) const;
    /// The most by which it was wrong at the last measurement, after the correction.
    [[nodiscard]] Nanoseconds error_ns() const { return error_ns_; }
    /// Parts per million by which the reference runs faster.
    [[nodiscard]] double drift_ppm() const { return slope_ * 1e6; }

    /// The line itself, for ranks that read the same clock.
    struct Words {
        std::int64_t anchor_local_ns, anchor_offset_ns, slope_1e15, error_ns;
    };
    [[nodiscard]] Words words() const;
    void adopt(Words const& words);

private:
    struct Point {
        Nanoseconds local_ns, offset_ns;
    };
    void fit();

    DriftRule rule_;
    std::deque<Point> points_;
    Nanoseconds anchor_local_ns_ = 0;
    Nanoseconds anchor_offset_ns_ = 0;
    double slope_ = 0;
    Nanoseconds error_ns_ = 0;
};

}  // namespace dlmb::measure

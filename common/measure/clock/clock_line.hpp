// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The offset between two clocks and its drift. Values that read no clock: OffsetSearch brackets one offset with
// ping-pongs, ClockLine draws a line through offsets measured again and again.
//
// The brackets, their intersection and the rule to stop are those of Hunold and Carpen-Amarie's ReproMPI (HCA3).
#pragma once

#include "common/base/units.hpp"

#include <deque>

namespace dlmb::measure {

/// `sent` and `received` on the client's clock, `answered` on the reference's.
struct PingPong {
    Nanoseconds sent = 0;
    Nanoseconds answered = 0;
    Nanoseconds received = 0;
};

/// What has to be added to the client's time to give the reference's; it lies in [low, high].
struct OffsetBracket {
    Nanoseconds low = 0;
    Nanoseconds high = 0;
    [[nodiscard]] bool contains(Nanoseconds offset) const { return low <= offset && offset <= high; }
    /// The most by which an offset can be wrong.
    [[nodiscard]] Nanoseconds error_of(Nanoseconds offset) const;
};

class OffsetSearch {
public:
    static constexpr int least = 10;
    static constexpr int most = 100;
    static constexpr Nanoseconds longest_ns = 50'000'000;

    void add(PingPong const& ping_pong);
    /// After 10 ping-pongs as soon as one took less than 1.1 times the shortest, after 100 or 50 ms in any case.
    [[nodiscard]] bool done() const;
    /// Intersection of all brackets; the narrowest one if clocks moved apart meanwhile so that there is none.
    [[nodiscard]] OffsetBracket const& bracket() const { return bracket_; }

private:
    OffsetBracket bracket_;
    int count_ = 0;
    Nanoseconds elapsed_ = 0;
    Nanoseconds last_round_trip_ = 0;
    Nanoseconds shortest_round_trip_ = 0;
};

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

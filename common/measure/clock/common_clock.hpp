// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One time for all ranks: that of rank 0's node. Ranks of a node read one clock, which is checked; between nodes,
// offsets and drift are measured along a binary tree of node leaders, over the bootstrap. OffsetSearch brackets one
// offset with ping-pongs, ClockLine draws a line through offsets measured again and again; these two read no clock.
//
// The tree, the brackets, their intersection and the rule to stop are those of Hunold and Carpen-Amarie's ReproMPI
// (HCA3).
#pragma once

#include "common/base/clock.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <deque>
#include <functional>
#include <vector>

namespace dlmb::measure {

/// `sent` and `received` on the client's clock, `answered` on the reference's.
struct PingPong {
    Nanoseconds sent = 0;
    Nanoseconds answered = 0;
    Nanoseconds received = 0;
};

/// The reference's time minus the client's; it lies in [low, high].
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

    /// Through the anchor, with a slope.
    struct DriftLine {
        Nanoseconds anchor_local_ns = 0;
        Nanoseconds anchor_offset_ns = 0;
        double slope = 0;
        Nanoseconds error_ns = 0;  // the most by which it was wrong at the last measurement, after the correction
    };

    /// Takes a measurement and goes through it: the slope is that of least squares over the last 64 offsets (none
    /// before the rule is met), the height the fitted one where the bracket allows it, else the nearest that it allows.
    /// Returns the most by which at(local_ns) was wrong before.
    Nanoseconds correct(MeasuredOffset const& measured);

    /// The reference's time when this clock shows `local_ns`.
    [[nodiscard]] Nanoseconds at(Nanoseconds local_ns) const;
    [[nodiscard]] Nanoseconds error_ns() const { return line_.error_ns; }
    /// Parts per million by which the reference runs faster.
    [[nodiscard]] double drift_ppm() const { return line_.slope * 1e6; }

    /// For ranks that read the same clock.
    [[nodiscard]] DriftLine const& line() const { return line_; }
    void adopt(DriftLine const& other) { line_ = other; }

private:
    struct ClockPoint {
        Nanoseconds local_ns, offset_ns;
    };
    void fit();

    DriftRule rule_;
    std::deque<ClockPoint> points_;
    DriftLine line_;
};

struct ClockOptions {
    DriftRule drift = {};
    /// The time of this rank's clock when now_ns() is `t`. For tests, whose ranks read one clock.
    std::function<Nanoseconds(Nanoseconds)> shows = [](Nanoseconds t) { return t; };
};

class CommonClock {
public:
    /// Collective. Between several nodes it takes as long as the drift rule asks for. Outlived by `bootstrap`.
    explicit CommonClock(Bootstrap& bootstrap, ClockOptions options = {});

    /// Collective. Measures and corrects; nothing to do where all ranks share a clock. Returns a bound of what this
    /// rank's common() was wrong by until now.
    Nanoseconds check();

    /// The common time when now_ns() is `t`.
    [[nodiscard]] Nanoseconds common(Nanoseconds t) const { return line_.at(options_.shows(t)); }
    [[nodiscard]] Nanoseconds now() const { return common(now_ns()); }
    /// Bound of what this rank's common() was wrong by right after the last check.
    [[nodiscard]] Nanoseconds error_ns() const { return line_.error_ns(); }
    /// Parts per million by which the common time runs faster than this rank's clock.
    [[nodiscard]] double drift_ppm() const { return line_.drift_ppm(); }

private:
    void find_tree();
    void compare_on_node();
    [[nodiscard]] MeasuredOffset measure(Rank reference);
    void answer(Rank client);
    [[nodiscard]] Nanoseconds follow(Rank reference);
    [[nodiscard]] Nanoseconds receive_line(Rank leader);

    Bootstrap& bootstrap_;
    ClockOptions options_;
    ClockLine line_;
    Rank leader_ = 0;
    std::size_t nodes_ = 1;
    std::vector<Rank> clients_;  // leaders whose reference this leader is, in the order of the tree's levels
    Rank reference_ = -1;        // of a leader; -1: it is the root
    struct PeerRank {
        Rank rank = 0;
        bool own_clock = false;
    };
    std::vector<PeerRank> peers_;  // of a leader: the other ranks of its node
    bool own_clock_ = false;       // of a peer: not the leader's, whatever the node says
};

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One time for all ranks: that of rank 0's node. Ranks of a node read one clock, which is checked; between nodes,
// offsets and drift are measured along a binary tree of node leaders (the tree of ReproMPI's HCA3), over the bootstrap.
#pragma once

#include "common/base/clock.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/measure/clock/clock_line.hpp"

#include <functional>
#include <vector>

namespace dlmb::measure {

struct ClockOptions {
    DriftRule drift = {};
    /// What this rank's clock shows when now_ns() is `t`. For tests, whose ranks read one clock.
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
    void tell_line(Rank peer);
    [[nodiscard]] Nanoseconds hear_line(Rank leader);

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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The offset between two clocks from ping-pongs. Each one brackets it: the reference answered after the client had
// asked and before the client had the answer, however unequal the two ways were. A value; it reads no clock.
// The brackets, their intersection and the rule to stop are those of Hunold and Carpen-Amarie's ReproMPI (HCA3).
#pragma once

#include "common/base/units.hpp"

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

}  // namespace dlmb::measure

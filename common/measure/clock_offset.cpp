// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/clock_offset.hpp"

#include <algorithm>

namespace dlmb::measure {

Nanoseconds OffsetBracket::error_of(Nanoseconds offset) const {
    return std::max(high - offset, offset - low);
}

void OffsetSearch::add(PingPong const& ping_pong) {
    OffsetBracket const heard{ping_pong.answered - ping_pong.received, ping_pong.answered - ping_pong.sent};
    last_round_trip_ = ping_pong.received - ping_pong.sent;
    elapsed_ += last_round_trip_;
    if (count_++ == 0) {
        bracket_ = heard;
        shortest_round_trip_ = last_round_trip_;
        return;
    }
    shortest_round_trip_ = std::min(shortest_round_trip_, last_round_trip_);
    OffsetBracket const both{std::max(bracket_.low, heard.low), std::min(bracket_.high, heard.high)};
    if (both.low <= both.high) {
        bracket_ = both;
    } else if (heard.high - heard.low < bracket_.high - bracket_.low) {
        bracket_ = heard;
    }
}

bool OffsetSearch::done() const {
    // In integers: last < 1.1 * shortest. Equal zeros, as of a coarse clock, count as well.
    bool const typical = 10 * last_round_trip_ < 11 * shortest_round_trip_ || last_round_trip_ == 0;
    return count_ >= most || (count_ >= least && (typical || elapsed_ >= longest_ns));
}

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/clock/clock_line.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

namespace {

constexpr std::size_t points_kept = 64;  // older ones say little about now: temperature moves the drift
constexpr double slope_unit = 1e15;

}  // namespace

Nanoseconds ClockLine::correct(MeasuredOffset const& measured) {
    auto const& [local_ns, bracket] = measured;
    Nanoseconds const was_wrong = bracket.error_of(at(local_ns) - local_ns);
    points_.push_back({local_ns, std::midpoint(bracket.low, bracket.high)});
    if (points_.size() > points_kept) {
        points_.pop_front();
    }
    fit();
    anchor_offset_ns_ = std::clamp(at(local_ns) - local_ns, bracket.low, bracket.high);
    anchor_local_ns_ = local_ns;
    error_ns_ = bracket.error_of(anchor_offset_ns_);
    return was_wrong;
}

// Least squares around the means, in numbers small enough for a double: offsets between hosts are days.
void ClockLine::fit() {
    Point const& first = points_.front();
    if (points_.size() < rule_.points || points_.back().local_ns - first.local_ns < rule_.spread_ns) {
        anchor_local_ns_ = points_.back().local_ns;
        anchor_offset_ns_ = points_.back().offset_ns;
        return;
    }
    auto const n = static_cast<double>(points_.size());
    double mean_x = 0;
    double mean_y = 0;
    for (Point const& point : points_) {
        mean_x += static_cast<double>(point.local_ns - first.local_ns) / n;
        mean_y += static_cast<double>(point.offset_ns - first.offset_ns) / n;
    }
    double xx = 0;
    double xy = 0;
    for (Point const& point : points_) {
        double const x = static_cast<double>(point.local_ns - first.local_ns) - mean_x;
        xx += x * x;
        xy += x * (static_cast<double>(point.offset_ns - first.offset_ns) - mean_y);
    }
    slope_ = xx > 0 ? xy / xx : 0;
    anchor_local_ns_ = first.local_ns + std::llround(mean_x);
    anchor_offset_ns_ = first.offset_ns + std::llround(mean_y);
}

Nanoseconds ClockLine::at(Nanoseconds local_ns) const {
    double const drifted = slope_ * static_cast<double>(local_ns - anchor_local_ns_);
    return local_ns + anchor_offset_ns_ + std::llround(drifted);
}

ClockLine::Words ClockLine::words() const {
    return {anchor_local_ns_, anchor_offset_ns_, std::llround(slope_ * slope_unit), error_ns_};
}

void ClockLine::adopt(Words const& words) {
    anchor_local_ns_ = words.anchor_local_ns;
    anchor_offset_ns_ = words.anchor_offset_ns;
    slope_ = static_cast<double>(words.slope_1e15) / slope_unit;
    error_ns_ = words.error_ns;
}

}  // namespace dlmb::measure

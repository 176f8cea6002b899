// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/clock_line.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlmb::measure {
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much of an iteration with compute steps is not compute: what the schedule and the transport leave exposed.
#pragma once

#include "common/record/record.hpp"

#include <string>

namespace dlmb::app {

/// Where the traffic has compute steps (statistic compute_us: the rank with most of it) and the cell is ok, adds
///   exposed_us    median iteration minus compute_us
///   bubble_ratio  exposed_us over the median iteration
void add_overlap(record::Cell& cell);

/// "# compute 100.000 us, exposed 20.000 us, bubble ratio 0.167 (ideal 0.143), makespan ...": beside the schedule's
/// closed form where the pattern has one (ideal_makespan_us, ideal_bubble_ratio); empty without compute steps.
[[nodiscard]] std::string overlap_line(record::Cell const& cell);

}  // namespace dlmb::app

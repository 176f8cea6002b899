// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much of an iteration with compute steps is not compute, and how much of the communication is hidden behind it.
#pragma once

#include "common/record/record.hpp"
#include "patterns/pattern.hpp"

#include <map>
#include <string>

namespace dlmb::app {

/// The cells of a launch, of which those without compute steps tell what the communication takes alone.
class Overlap {
public:
    explicit Overlap(PatternType const& type) : type_(type) {}

    /// Where the traffic has compute steps (statistic compute_us: the rank with most of it) and the cell is ok, adds
    ///   exposed_us        median iteration minus compute_us
    ///   bubble_ratio      exposed_us over the median iteration
    /// and where the launch has measured the same cell without them before (`--compute none,busy`: what differs in
    /// nothing but the pattern's compute_parameters),
    ///   communication_us  its median iteration
    ///   overlap_ratio     1 - (median iteration - T) / communication_us, T: ideal_makespan_us, else compute_us
    /// 1: the communication costs no time, 0: as much as alone, below 0: computing slows it down.
    void add(record::Record& cell);

    /// What the same cell took without compute steps, on rank 0; 0: that was not measured, or this is another rank.
    [[nodiscard]] double communication_us(record::Record const& cell) const;

private:
    PatternType const& type_;
    std::map<std::string, double> communication_us_;  // by what is the same with and without compute steps
};

/// "# compute 100.000 us, exposed 20.000 us, bubble ratio 0.167; ...": beside the schedule's closed form where the
/// pattern has one (ideal_makespan_us, ideal_bubble_ratio); empty without compute steps.
[[nodiscard]] std::string overlap_line(record::Record const& cell);

}  // namespace dlmb::app

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of a record that follow from several of its phases, or from other cells of the launch, and the lines of the
// table that show them: how much of the communication is hidden behind compute steps; what traffic costs that runs
// beside other traffic (patterns/beside.hpp); how near packing comes to a plain copy.
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

/// The cells of a launch that ran alone.
class Interference {
public:
    /// Of a cell without traffic beside it, or without the rest.
    void add_alone(record::Record const& cell);

    /// Adds, where the launch has measured both alone and the cell is ok, with medians `main`, `beside` and `together`:
    ///   main_alone_us      main
    ///   beside_alone_us    beside
    ///   interference       together / max(main, beside); 1: the longer one does not feel the other
    ///   overlap_share      (main + beside - together) / min(main, beside); 1: the shorter one costs no time, 0: as
    ///                      much as one after the other, below 0: more
    void complete(record::Record& together) const;

private:
    struct Alone {
        std::map<std::string, double> us;  // by method
        std::string standard;              // the method that "default" stands for
    };
    /// Of the same method, else of the default, by which traffic is done that a method does not change; 0: not
    /// measured.
    [[nodiscard]] double alone_us(std::string const& key, std::string const& method) const;
    /// Of the only method; 0: there are none or several.
    [[nodiscard]] double alone_us(std::string const& key) const;

    std::map<std::string, Alone> alone_;  // by traffic and backend
};

/// "# alone 812.000 us, beside alone 640.000 us: interference 1.318, overlap share 0.548"; empty without such figures.
[[nodiscard]] std::string interference_line(record::Record const& cell);

/// Adds to an ok cell whose phases `pack` and `unpack` were timed beside plain copies
///   time_pack_us, time_unpack_us     medians of these phases, per iteration
///   time_wire_us                     sum of the medians of the phases that send
///   pack_of_copy, unpack_of_copy     time of the plain copy / time of the phase: the share that the phase
///                                    reaches of the bandwidth of a copy between the same buffers
void add_packing_times(record::Record& cell);

/// "# time_wire 69.4 us, time_pack 88.1 us (0.71 of copy bandwidth), time_unpack 65.3 us (0.80 of copy bandwidth)", of
/// the phases that have such figures; empty without.
[[nodiscard]] std::string packing_line(record::Record const& cell);

}  // namespace dlmb::app

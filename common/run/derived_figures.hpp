// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of a record that follow from several of its phases, or from other cells, and the lines of the table that show
// them: how much of the communication is hidden behind compute steps; what traffic costs that runs beside other traffic
// (dlmb_plan overlay); how near packing comes to a plain copy.
#pragma once

#include "common/formats/record/record.hpp"
#include "patterns/pattern.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dlmb::run {

/// Adds what follows from the result of the cell alone: whether it is below the floor of the timer (`timer_cost_ns`;
/// nothing: not calibrated), the messages that all ranks together send per second where the traffic counts them, and
/// the two groups of figures below.
void add_figures(record::Record& cell, std::optional<double> timer_cost_ns);

/// Where the traffic has compute steps (statistic compute_us: the rank with most of it) and the cell is ok, adds
///   exposed_us        median iteration minus compute_us
///   bubble_ratio      exposed_us over the median iteration
void add_exposed_times(record::Record& cell);

/// The figures that relate finished cells to each other: those of this launch, and of the results file that it goes on
/// with. A stored cell that read a file of traffic counts only where this launch has the cell, too, and found that file
/// unchanged. No cell waits for another one: its line is written when it ends, and what other cells
/// add to it is a line of its own. On rank 0; another rank knows no times.
///
/// A cell with compute steps and the same cell without them (`--compute none,busy`: what differs in nothing but the
/// pattern's compute_parameters) give
///   communication_us  median iteration without
///   overlap_ratio     1 - (median iteration - T) / communication_us, T: ideal_makespan_us, else compute_us
/// 1: the communication costs no time, 0: as much as alone, below 0: computing slows it down.
///
/// A cell whose plans are an overlay, and the cells of both files of it, with medians `together`, `main` and `beside`,
/// give
///   main_alone_us     main
///   beside_alone_us   beside
///   interference      together / max(main, beside); 1: the longer one does not feel the other
///   overlap_share     (main + beside - together) / min(main, beside); 1: the shorter one costs no time, 0: as much as
///                     one after the other, below 0: more
/// and where phases have their ends, for each of the two
///   main_slowdown     the end of its last phase together over the same alone (over its time, where it has one phase),
///   beside_slowdown   with main_slowdown_low and _high: the ends of both 95 % intervals against each other, absent
///   where
///                     one has none. An end counts from when its rank begins, a time from the common start.
/// Alone by the same method, else by the default, by which traffic is done that a method does not change.
class CellRelations {
public:
    explicit CellRelations(PatternType const& type) : type_(type) {}

    /// A finished cell. A later one of the same identity takes its place.
    void add(record::Record const& cell);
    /// The time of the same cell without compute steps; 0: it is not measured.
    [[nodiscard]] double communication_us(record::Record const& cell) const;
    /// Adds communication_us and overlap_ratio to a cell that has compute steps, where they are known.
    void add_overlap(record::Record& cell) const;

    struct Completed {
        record::Record cell;  // with the figures
        std::string title;
        std::map<std::string, double> statistics;  // these figures
    };
    /// Has completed() look for what `cell`, which is finished, lacks of the figures above.
    void await(record::Record cell, std::string title);
    /// The cells that lack nothing any more, each once. To be asked when the cells that take turns are done: a better
    /// partner might still come before.
    [[nodiscard]] std::vector<Completed> completed();

private:
    struct Alone {
        struct Measured {
            record::MedianInterval ns;
            std::optional<record::MedianInterval> ended;  // of the last phase; nothing: there is one phase
            std::set<std::string> phases;
        };
        std::map<std::string, Measured> by_method;
        std::string standard;  // the method that "default" stands for
    };
    struct Awaiting {
        record::Record cell;
        std::string title;
    };
    using Figures = std::map<std::string, double>;

    [[nodiscard]] std::string communication_key(record::Record const& cell) const;
    [[nodiscard]] Figures overlap_of(record::Record const& cell) const;
    [[nodiscard]] Figures interference_of(record::Record const& together) const;
    /// By the same method, else by the default; nullptr: not measured.
    [[nodiscard]] Alone::Measured const* alone(std::string const& key, std::string const& method) const;
    void found(std::string const& key);

    PatternType const& type_;
    std::map<std::string, double> communication_us_;  // by what is the same with and without compute steps
    std::map<std::string, Alone> alone_;              // by traffic and backend
    std::map<std::size_t, Awaiting> awaiting_;
    std::size_t next_ = 0;
    std::multimap<std::string, std::size_t> awaited_;  // by the keys of both maps above
    std::set<std::size_t> due_;                        // of which another partner was found
};

/// "# compute 100.000 us, exposed 20.000 us, bubble ratio 0.167; ...": beside the schedule's closed form where the
/// pattern has one (ideal_makespan_us, ideal_bubble_ratio); empty without compute steps.
[[nodiscard]] std::string overlap_line(record::Record const& cell);

/// "# alone 812.000 us, beside alone 640.000 us: interference 1.318, overlap share 0.548", and with slow-downs a second
/// line: "# slowed down: main 1.20 (1.18 to 1.22), beside 1.32 (1.29 to 1.35)"; empty without such figures.
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

}  // namespace dlmb::run

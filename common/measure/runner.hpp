// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Measures cells in turns: a round visits each cell once, in random order, so that drift of the machine hits all of
// them alike.
#pragma once

#include "common/formats/record/cell_result.hpp"
#include "common/measure/beside/load.hpp"
#include "common/measure/cell.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/environment/cpu_quota.hpp"
#include "common/measure/start/common_start.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::measure {

/// Defines a sample. isolated: one iteration that the ranks begin together. stream: iterations back to back. osu: as
/// the program of OSU Micro-Benchmarks for this operation. nccl: as nccl-tests. docs/definitions.md.
enum class Mode { isolated, stream, osu, nccl };
inline constexpr std::array every_mode{Mode::isolated, Mode::stream, Mode::osu, Mode::nccl};
[[nodiscard]] constexpr std::string_view name_of(Mode mode) {
    constexpr std::array<std::string_view, every_mode.size()> names{"isolated", "stream", "osu", "nccl"};
    return names.at(static_cast<std::size_t>(mode));
}
/// Defined by another suite: so many calls as it makes by default, and times averaged over ranks.
[[nodiscard]] constexpr bool is_foreign(Mode mode) {
    return mode == Mode::osu || mode == Mode::nccl;
}

/// Iterations of --reproducible. So many arrivals in random order show a sum whose order is left to chance.
inline constexpr std::uint64_t bit_pattern_iterations = 200;

struct RunnerOptions {
    Mode mode = Mode::isolated;
    std::optional<std::uint64_t> iterations = std::nullopt;  // fixed count, in samples together; otherwise adaptive
    std::optional<std::uint64_t> warmup = std::nullopt;      // fixed; otherwise adaptive
    Nanoseconds time_limit_ns = 10'000'000'000;              // what a cell may spend in its rounds
    bool time_limited = false;                // the limit was asked for: a mode of another suite is adaptive, too
    Nanoseconds timeout_ns = 60'000'000'000;  // watchdog: longest time between two signs of progress
    bool validate = true;
    std::uint64_t bit_pattern_iterations = 0;  // after timing: how many different sums so many of them give; 0: none
    StartRequest start = StartRequest::automatic;
    record::CacheMode cache = record::CacheMode::rotate;
    record::Fill fill = record::Fill::random;
    bool gate = false;       // on device memory, iterations that need no host wait until all ranks have queued theirs
    double drop_slower = 0;  // cells this many times slower than their backend's best get no more rounds; 0: all do
    std::uint64_t order_seed = 1;
    std::function<Nanoseconds()> limit_clock = now_ns;  // for decisions, read on rank 0 only; samples use now_ns()
};

/// The objects that all cells of a launch share while they are measured.
struct LaunchShared {
    Bootstrap& bootstrap;
    CommonStart& start;
    Watchdog& watchdog;
    RunnerOptions const& options;
    QuotaReader const* cpu_quota = nullptr;  // of this rank's process; nullptr: nobody asks
    BackgroundLoads* loads = nullptr;        // nullptr: no cell has one
};

/// The counts of a cell: what a mode of another suite leaves open is what its program takes by default.
[[nodiscard]] RunnerOptions with_counts(RunnerOptions options, OsuProgram const& osu);

/// Collective. Measures cells whose plans are compiled. `finished` is called on every rank, in the same order, as soon
/// as a cell is done. record::Status, reason and validation are equal on all ranks, samples and summaries are filled on
/// rank 0 only. A fault in a library call throws, behind `finished` with record::Status::failed on the rank that saw
/// it; a payload mismatch gives record::Status::invalid and no times. Afterwards every backend is quiescent and the
/// watchdog disarmed, also when leaving by an exception. `turn` is called before each turn of a cell, outside of what
/// is timed.
void run_cells(
    LaunchShared const& launch, std::span<Cell const> cells,
    std::function<void(Cell const&, record::CellResult const&)> const& finished,
    std::function<void()> const& turn = [] {});

/// A permutation of 0 .. count-1, a function of its arguments alone: the order in which a round visits its cells.
[[nodiscard]] std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round);

/// A cell after some rounds.
struct CellSoFar {
    std::span<double const> round_medians_ns;  // one per round so far; none: it is not compared (any more)
    std::size_t group = 0;                     // only cells of one group are compared: those of one backend
    bool may_drop = true;                      // false: default of its backend, named, or it has all its samples
};

/// By cell: 0, or for one that shall get no more rounds how many times slower it is than the best of its group, by the
/// medians of their rounds. Those are cells of the slower half of their group whose fastest round is more than `factor`
/// times the slowest round of the group's best. It takes two rounds at least: one slow minute of the machine is not
/// enough.
[[nodiscard]] std::vector<double> times_slower(std::span<CellSoFar const> cells, double factor);

}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Measures cells in turns: a round visits each cell once, in random order, so that drift of the machine hits all of
// them alike.
#pragma once

#include "common/measure/cell.hpp"
#include "common/measure/cell_result.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/start/common_start.hpp"

#include <functional>
#include <optional>
#include <span>

namespace dlmb::measure {

enum class Mode { isolated, stream };

struct RunnerOptions {
    Mode mode = Mode::isolated;
    std::optional<std::uint64_t> iterations = std::nullopt;  // fixed count of samples; otherwise adaptive
    std::optional<std::uint64_t> warmup = std::nullopt;      // fixed; otherwise adaptive
    Nanoseconds time_limit_ns = 10'000'000'000;              // what a cell may spend in its rounds
    Nanoseconds timeout_ns = 60'000'000'000;                 // watchdog: longest time between two signs of progress
    bool validate = true;
    StartRequest start = StartRequest::automatic;
    CacheMode cache = CacheMode::rotate;
    Fill fill = Fill::random;
    bool gate = false;       // on device memory, iterations that need no host wait until all ranks have queued theirs
    double drop_slower = 0;  // cells this many times slower than their backend's best get no more rounds; 0: all do
    std::uint64_t order_seed = 1;
    std::function<Nanoseconds()> limit_clock = now_ns;  // for decisions, read on rank 0 only; samples use now_ns()
};

/// What all cells of a launch share while they are measured.
struct LaunchShared {
    Bootstrap& bootstrap;
    CommonStart& start;
    Watchdog& watchdog;
    RunnerOptions const& options;
};

/// Collective. Measures cells whose plans are compiled. `finished` is called on every rank, in the same order, as soon
/// as a cell is done. Status, reason and validation are equal on all ranks, samples and summaries are filled on rank 0
/// only. A fault in a library call throws; a payload mismatch gives Status::invalid and no times. Afterwards every
/// backend is quiescent and the watchdog disarmed, also when leaving by an exception.
void run_cells(LaunchShared const& launch, std::span<Cell const> cells,
               std::function<void(Cell const&, CellResult const&)> const& finished);

}  // namespace dlmb::measure

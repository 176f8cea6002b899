// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs contests: the same traffic in the same buffers over several (backend, method) candidates. The candidates of all
// contests are interleaved in rounds, so that drift of the machine hits all of them alike.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/buffers/cache_use.hpp"
#include "common/measure/cell_result.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/memory/throttling.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

struct Candidate {
    std::string name;  // "ucx pairwise, host memory, deepseek-v3": for messages
    Backend* backend = nullptr;
    /// positions[p] runs plans[p % plans.size()] in slots[p % slots.size()]; positions_of() says how many there are.
    std::vector<std::unique_ptr<CompiledPlan>> positions;
    Nanoseconds setup_ns = 0;
    bool is_default = false;  // of its backend: what others are compared with, and never dropped
};

/// What the candidates share. `plans[d]` is this rank's plan of draw d; `slots` are sets of buffers in `memory`, each
/// large enough for every plan and filled (slot_fill.hpp), that iterations take in turn.
struct Contest {
    Bootstrap& bootstrap;
    MemorySpace& memory;
    std::span<Buffers const> slots;
    std::span<Plan const> plans;
    CommonStart& start;
    CacheFlush* flush = nullptr;      // swept before every sample; nullptr: never
    Throttling const* gpu = nullptr;  // that this rank's cells use; nullptr: none
};

/// A contest and who takes part. `finished(index, result)` is called on every rank, in the same order, as soon as a
/// candidate is done.
struct ContestRun {
    Contest const& contest;
    std::span<Candidate> candidates;
    std::function<void(std::size_t, CellResult const&)> finished;
};

/// Collective. The candidates of all `runs`, of one bootstrap, take turns: a round visits each once, in random order.
/// Status, reason and validation are equal on all ranks, samples and summaries are filled on rank 0 only.
/// A fault in a library call throws; a payload mismatch gives Status::invalid and no times. Afterwards every backend is
/// quiescent and the watchdog disarmed, also when leaving by an exception.
void run_contests(std::span<ContestRun const> runs, RunnerOptions const& options, Watchdog& watchdog);

/// One of them.
inline void run_contest(Contest const& contest, std::span<Candidate> candidates, RunnerOptions const& options,
                        Watchdog& watchdog, std::function<void(std::size_t, CellResult const&)> finished) {
    std::array<ContestRun, 1> const run{{{contest, candidates, std::move(finished)}}};
    run_contests(run, options, watchdog);
}

}  // namespace dlmb::measure

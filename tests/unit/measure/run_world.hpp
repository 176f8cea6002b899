// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A whole run in one process: threads as ranks, the in_process backend, a two-phase plan whose blocks are equally
// long within a draw, and what every rank was told.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/memory/memory_space.hpp"
#include "tests/unit/measure/faulty_backend.hpp"
#include "tests/unit/plan_memory.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::in_process {
MadeBackend make_backend(BackendContext const& context);
}

namespace dlmb::measure::testing {

struct Told {
    std::size_t cell = 0;
    record::CellResult result;
};

/// Every pair of ranks exchanges 256 * (draw + 1) bytes in "dispatch" and the same back in "combine".
inline Plan two_phase_plan(Rank me, int ranks, std::uint32_t draw);

struct RunSpec {
    int ranks = 4;
    std::function<Plan(Rank, int, std::uint32_t)> plan = two_phase_plan;  // of a rank, with so many of them, by draw
    std::uint32_t draws = 2;
    std::uint64_t slots = 1;
    Bytes flushed_cache = 0;  // swept before each sample
    RunnerOptions options = {};
    /// One cell per entry, each with a backend of its own around the same in_process backend.
    std::vector<std::function<Fault(Rank)>> cells;
    std::vector<std::string> beside = {};  // by cell; empty: no cell has a load
    bool named = false;                    // the cells, by --method
    bool one_backend = false;              // the cells pass for methods of the first one's backend
    std::size_t points = 1;                // of equal traffic, in buffers of their own, among which the cells are split
    std::function<RunnerOptions(RunnerOptions, Rank)> adjust = [](RunnerOptions same, Rank) { return same; };
    Throttling const* gpu = nullptr;  // of every rank
    OsuProgram osu = {};
    std::function<void(HangReport const&)> hang = [](HangReport const&) {};
    std::function<void(Rank, record::CellResult const&)> finished = [](Rank, record::CellResult const&) {};
};

inline Plan two_phase_plan(Rank me, int ranks, std::uint32_t draw) {
    PlanBuilder builder(me);
    GroupId const group = builder.group(world_of(ranks));
    std::vector<Bytes> const bytes(static_cast<std::size_t>(ranks), Bytes{256} * (draw + 1));
    StepId const dispatch = builder.exchange(group, bytes, bytes, "dispatch");
    builder.exchange(group, bytes, bytes, "combine.node", {dispatch});
    return std::move(builder).finish();
}

/// The same traffic as one phase, of which no iteration needs marks: the timed ones are all that there are.
inline Plan one_phase_plan(Rank me, int ranks, std::uint32_t draw) {
    Plan plan = two_phase_plan(me, ranks, draw);
    plan.steps.back().label = "dispatch.node";
    return plan;
}

inline std::vector<Told> run_rank(RunSpec const& spec, Bootstrap& bootstrap) {
    Rank const me = bootstrap.rank();
    std::string why_not;
    std::unique_ptr<MemorySpace> const memory = make_memory_space(MemoryKind::host, why_not);
    std::vector<Plan> plans;
    for (std::uint32_t draw = 0; draw < spec.draws; ++draw) {
        plans.push_back(spec.plan(me, spec.ranks, draw));
    }
    MadeBackend made = in_process::make_backend({bootstrap});
    std::vector<std::unique_ptr<FaultyBackend>> backends;
    std::deque<PreparedPoint> points;
    std::vector<Cell> cells;
    for (auto const& fault : spec.cells) {
        if (cells.size() * spec.points == points.size() * spec.cells.size()) {
            points.emplace_back(bootstrap, *memory, plans,
                                PointSetup{spec.slots, spec.options.fill, spec.flushed_cache, spec.gpu, spec.osu});
        }
        backends.push_back(std::make_unique<FaultyBackend>(*made.value(), fault(me)));
        Cell cell;
        cell.name = "cell " + std::to_string(cells.size());
        cell.backend = backends.back().get();
        cell.point = &points.back();
        static_cast<void>(cell.compile(bootstrap));
        cell.backend = (spec.one_backend ? backends.front() : backends.back()).get();
        cell.is_named = spec.named;
        cell.setup_ns = 1000 + me;
        cell.identity.beside = spec.beside.empty() ? "" : spec.beside.at(cells.size());
        cells.push_back(std::move(cell));
    }

    std::vector<Told> told;
    Watchdog watchdog(spec.hang);
    CommonStart start(bootstrap, spec.options.start);
    RunnerOptions const options = spec.adjust(spec.options, me);
    std::optional<BackgroundLoads> loads;
    if (!spec.beside.empty()) {
        loads.emplace(bootstrap, Bytes{1} << 20U);
    }
    run_cells({bootstrap, start, watchdog, options, nullptr, loads ? &*loads : nullptr}, cells,
              [&](Cell const& cell, record::CellResult const& result) {
                  told.push_back({static_cast<std::size_t>(&cell - cells.data()), result});
                  spec.finished(me, result);
              });
    return told;
}

/// [rank][order of finishing]
inline std::vector<std::vector<Told>> run(RunSpec const& spec) {
    std::vector<std::vector<Told>> told(static_cast<std::size_t>(spec.ranks));
    in_process::run_ranks(spec.ranks, [&](Bootstrap& bootstrap) {
        told[static_cast<std::size_t>(bootstrap.rank())] = run_rank(spec, bootstrap);
    });
    return told;
}

inline std::function<Fault(Rank)> without_fault() {
    return [](Rank) { return Fault{}; };
}
inline std::function<Fault(Rank)> with(Fault const& fault) {
    return [fault](Rank) { return fault; };
}
/// On rank 0 only.
inline std::function<Fault(Rank)> on_rank_0(Fault const& fault) {
    return [fault](Rank me) { return me == 0 ? fault : Fault{}; };
}
/// Sees each iteration of rank 0 before it begins.
inline std::function<Fault(Rank)> seen_by(std::function<void(Iteration const&)> const& note) {
    Fault fault;
    fault.before = note;
    return on_rank_0(fault);
}

/// Six samples and no warm-up: iterations are 0 .. draws - 1 checked, then 6 timed, then checked again.
inline RunnerOptions brief() {
    RunnerOptions options = {};
    options.iterations = 6;
    options.warmup = 0;
    return options;
}

}  // namespace dlmb::measure::testing

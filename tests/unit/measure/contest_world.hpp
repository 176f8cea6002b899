// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A whole contest in one process: threads as ranks, the in_process backend, a two-phase plan whose blocks are equally
// long within a draw, and what every rank was told.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/buffers/rotation.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/memory/memory_space.hpp"
#include "common/plan/builder.hpp"
#include "tests/unit/measure/faulty_backend.hpp"

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
    std::size_t candidate = 0;
    CellResult result;
};

struct ContestSpec {
    int ranks = 4;
    std::uint32_t draws = 2;
    std::uint64_t slots = 1;
    Bytes flushed_cache = 0;  // swept before each sample
    RunnerOptions options = {};
    /// One candidate per entry, each with a backend of its own around the same in_process backend.
    std::vector<std::function<Fault(Rank)>> candidates;
    bool one_backend = false;  // the candidates pass for methods of the first one's backend
    std::size_t contests = 1;  // of equal traffic, in buffers of their own, among which the candidates are split
    std::function<RunnerOptions(RunnerOptions, Rank)> adjust = [](RunnerOptions same, Rank) { return same; };
    Throttling const* gpu = nullptr;  // of every rank
    std::function<void(Stuck const&)> stuck = [](Stuck const&) {};
};

/// Every pair of ranks exchanges 256 * (draw + 1) bytes in "dispatch" and the same back in "combine".
inline Plan two_phase_plan(Rank me, int ranks, std::uint32_t draw) {
    PlanBuilder builder(me);
    Group world;
    for (Rank rank = 0; rank < ranks; ++rank) {
        world.members.push_back(rank);
    }
    GroupId const group = builder.group(world);
    std::vector<Bytes> const bytes(static_cast<std::size_t>(ranks), Bytes{256} * (draw + 1));
    StepId const dispatch = builder.exchange(group, bytes, bytes, "dispatch");
    builder.exchange(group, bytes, bytes, "combine.node", {dispatch});
    return std::move(builder).finish();
}

inline BufferPool filled_pool(ContestSpec const& spec, MemorySpace& memory, std::span<Plan const> plans) {
    BufferPool pool(memory, buffer_sizes(plans), spec.slots);
    fill_slots(memory, pool.slots(), plans, spec.options.fill);
    return pool;
}

inline std::vector<Told> run_rank(ContestSpec const& spec, Bootstrap& bootstrap) {
    Rank const me = bootstrap.rank();
    std::string why_not;
    std::unique_ptr<MemorySpace> const memory = make_memory_space(MemoryKind::host, why_not);
    std::vector<Plan> plans;
    for (std::uint32_t draw = 0; draw < spec.draws; ++draw) {
        plans.push_back(two_phase_plan(me, spec.ranks, draw));
    }
    std::vector<BufferPool> pools;
    for (std::size_t contest = 0; contest < spec.contests; ++contest) {
        pools.push_back(filled_pool(spec, *memory, plans));
    }
    std::size_t const each = spec.candidates.size() / spec.contests;
    std::optional<CacheFlush> flush;
    if (spec.flushed_cache > 0) {
        flush.emplace(*memory, spec.flushed_cache);
    }

    MadeBackend made = in_process::make_backend({bootstrap});
    std::vector<std::unique_ptr<FaultyBackend>> backends;
    std::vector<Candidate> candidates;
    for (auto const& fault : spec.candidates) {
        backends.push_back(std::make_unique<FaultyBackend>(*made.value(), fault(me)));
        Candidate& candidate = candidates.emplace_back();
        candidate.name = "candidate " + std::to_string(candidates.size() - 1);
        candidate.backend = (spec.one_backend ? backends.front() : backends.back()).get();
        candidate.setup_ns = 1000 + me;
        std::span<Buffers const> const slots = pools[(candidates.size() - 1) / each].slots();
        for (std::size_t position = 0; position < positions_of(plans.size(), spec.slots); ++position) {
            candidate.positions.push_back(
                std::move(backends.back()->compile(plans[position % plans.size()], slots[position % spec.slots], {}))
                    .value());
        }
    }

    std::vector<Told> told;
    Watchdog watchdog(spec.stuck);
    CommonStart start(bootstrap, spec.options.start);
    std::deque<Contest> contests;
    std::vector<ContestRun> runs;
    for (BufferPool const& pool : pools) {
        std::size_t const first = contests.size() * each;
        contests.push_back({bootstrap, *memory, pool.slots(), plans, start, flush ? &*flush : nullptr, spec.gpu});
        runs.push_back({contests.back(), std::span(candidates).subspan(first, each),
                        [&told, first](std::size_t candidate, CellResult const& result) {
                            told.push_back({first + candidate, result});
                        }});
    }
    run_contests(runs, spec.adjust(spec.options, me), watchdog);
    return told;
}

/// [rank][order of finishing]
inline std::vector<std::vector<Told>> run(ContestSpec const& spec) {
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

/// Six samples and no warm-up: iterations are 0 .. draws - 1 checked, then 6 timed, then checked again.
inline RunnerOptions brief() {
    RunnerOptions options = {};
    options.iterations = 6;
    options.warmup = 0;
    return options;
}

}  // namespace dlmb::measure::testing

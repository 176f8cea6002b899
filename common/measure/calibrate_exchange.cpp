// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A cell like any other, with the smallest message: what it takes is what every message takes at least.
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffer_pool.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/common_start.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/slot_fill.hpp"
#include "common/plan/builder.hpp"

#include <numeric>

namespace dlmb::measure {
namespace {

constexpr Bytes message = 8;
constexpr std::uint64_t warm_up = 10;

Plan to_the_next_rank(Bootstrap const& bootstrap) {
    Group world;
    world.members.resize(static_cast<std::size_t>(bootstrap.size()));
    std::iota(world.members.begin(), world.members.end(), Rank{0});
    PlanBuilder builder(bootstrap.rank());
    GroupId const group = builder.group(world);
    int const ranks = bootstrap.size();
    constexpr int batch = 0;  // both posted before either is waited for
    builder.send(group, (bootstrap.rank() + 1) % ranks, message, 0, batch, "exchange");
    builder.recv(group, (bootstrap.rank() + ranks - 1) % ranks, message, 0, batch, "exchange");
    return std::move(builder).finish();
}

}  // namespace

std::vector<ExchangeFloor> calibrate_exchange(Bootstrap& bootstrap, MemorySpace& memory,
                                              std::span<Backend* const> backends, Nanoseconds limit_ns,
                                              Watchdog& watchdog) {
    if (bootstrap.size() < 2) {
        return {};
    }
    std::vector<Plan> const plans{to_the_next_rank(bootstrap)};
    BufferPool const pool(memory, buffer_sizes(plans), 1);
    fill_slots(memory, pool.slots(), plans, Fill::random);
    std::vector<Candidate> candidates;
    for (Backend* const backend : backends) {
        auto compiled = backend->compile(plans.front(), pool.slots().front(), {});
        if (first_refusal(bootstrap, compiled ? "" : compiled.error().reason).empty()) {
            Candidate& candidate = candidates.emplace_back();
            candidate.name = "calibration of " + std::string(backend->name());
            candidate.backend = backend;
            candidate.positions.push_back(std::move(compiled).value());
        }
        backend->quiesce();
    }
    RunnerOptions options;
    options.warmup = warm_up;
    options.time_limit_ns = limit_ns;
    options.validate = false;
    CommonStart start(bootstrap, StartRequest::barrier);
    std::vector<ExchangeFloor> floors;
    run_contest({bootstrap, memory, pool.slots(), plans, start}, candidates, options, watchdog,
                [&](std::size_t index, CellResult const& result) {
                    floors.push_back({std::string(candidates[index].backend->name()),
                                      std::string(dlmb::name_of(memory.kind())), result.median_of_rounds_ns});
                });
    return floors;
}

}  // namespace dlmb::measure

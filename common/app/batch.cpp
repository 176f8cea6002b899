// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/batch.hpp"

#include "common/measure/buffers/rotation.hpp"
#include "common/memory/available_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace dlmb::app {
namespace {

void skip_all(LaunchContext& launch, Variant const& variant, std::vector<Entry> const& entries,
              std::string const& reason) {
    launch.watchdog.disarm();
    for (Entry const& entry : entries) {
        report_skipped(launch, variant, entry, reason);
    }
}

Parameters compute_steps_of(PatternType const& type, Variant const& variant) {
    Parameters found;
    std::copy_if(variant.parameters.begin(), variant.parameters.end(), std::inserter(found, found.end()),
                 [&](auto const& parameter) { return sets_compute(type, parameter.first); });
    return found;
}

/// Collective.
Load load_of(Bootstrap& bootstrap, std::span<Plan const> plans, BufferChoice const& choice, std::size_t cells) {
    std::size_t steps = 0;
    for (Plan const& plan : plans) {
        steps = std::max(steps, plan.steps.size());
    }
    auto most = static_cast<std::int64_t>(cells * measure::positions_of(plans.size(), choice.use.slots) * steps);
    bootstrap.all_reduce({&most, 1}, Fold::max);
    return {choice.use.pool_bytes + choice.use.flush_bytes, static_cast<std::uint64_t>(most)};
}

/// Collective.
Bytes least_host_free(Bootstrap& bootstrap) {
    auto least = static_cast<std::int64_t>(available_host_memory());
    bootstrap.all_reduce({&least, 1}, Fold::min);
    return static_cast<Bytes>(least);
}

}  // namespace

void Batch::add(Variant const& variant, MemoryKind memory) {
    // What a cell without compute steps takes is known to the one with them only once it is over. And how much of a
    // device's memory libraries hold is not known: there each point is alone.
    bool const alone = !launch_.options.rounds_over_sweep || on_device(memory) || memory == MemoryKind::managed;
    if (!points_.empty() && (alone || compute_steps_of(launch_.type, variant) !=
                                          compute_steps_of(launch_.type, points_.front().variant()))) {
        run();
    }
    std::unique_ptr<Pattern> const pattern = launch_.type.make(variant.parameters, launch_.world);
    std::vector<Entry> entries = open_entries(launch_, variant, *pattern, memory);
    if (!entries.empty()) {
        prepare(variant, memory, *pattern, std::move(entries));
    }
    if (alone) {
        run();
    }
}

void Batch::prepare(Variant const& variant, MemoryKind memory, Pattern const& pattern, std::vector<Entry> entries) {
    // From here on ranks wait for each other; a hang before the first cell is compiled is recorded under that cell.
    launch_.reporter.expect(variant.title, entries.front().cell);
    auto const announce = [&] {
        launch_.watchdog.arm(variant.title, launch_.options.runner.timeout_ns);
        launch_.watchdog.activity("traffic set-up");
        launch_.reporter.doing("traffic set-up");
    };
    announce();
    std::string reason;
    std::unique_ptr<MemorySpace> space = memory_on_all_ranks(launch_.bootstrap, memory, reason);
    if (space == nullptr) {
        skip_all(launch_, variant, entries, reason);
        return;
    }
    Traffic traffic = prepare_traffic(launch_.bootstrap, pattern, launch_.type.phases, launch_.options.seed,
                                      draws_of(pattern, launch_.options));
    BufferChoice choice = choose_buffers(launch_, memory, traffic.plans);
    auto const fits = [&] {
        return choice.why_not.empty() && !choice.shrunk &&
               fits_beside(ready_, load_of(launch_.bootstrap, traffic.plans, choice, entries.size()), room_,
                           least_host_free(launch_.bootstrap));
    };
    if (!points_.empty() && !fits()) {
        run();
        announce();
        choice = choose_buffers(launch_, memory, traffic.plans);
    }
    if (!choice.why_not.empty()) {
        skip_all(launch_, variant, entries, choice.why_not);
        return;
    }
    if (points_.empty()) {
        room_ = {choice.pool_limit, least_host_free(launch_.bootstrap)};
    }
    Load const load = load_of(launch_.bootstrap, traffic.plans, choice, entries.size());
    points_.emplace_back(launch_, variant, std::move(space), std::move(traffic), choice, std::move(entries));
    if (points_.back().cells() == 0) {
        points_.pop_back();
        return;
    }
    ready_.pools += load.pools;
    ready_.compiled_steps += load.compiled_steps;
}

void Batch::run() {
    std::size_t left = 0;
    std::vector<measure::ContestRun> runs;
    auto const cell_over = [&] { launch_.reporter.doing(fmt::format("measuring {} more cells in turns", --left)); };
    for (Point& point : points_) {
        left += point.cells();
        runs.push_back(point.contest_run(cell_over));
    }
    if (left > 0) {
        launch_.reporter.doing(fmt::format("measuring {} cells of {} points in turns", left, runs.size()));
        measure::run_contests(runs, launch_.options.runner, launch_.watchdog);
    }
    launch_.watchdog.disarm();
    points_.clear();
    ready_ = {};
}

}  // namespace dlmb::app

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/batch.hpp"

#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/rotation.hpp"
#include "common/measure/statistics/series.hpp"
#include "common/memory/available_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace dlmb::app {
namespace {

Parameters compute_steps_of(PatternType const& type, SweepPoint const& point) {
    Parameters found;
    std::copy_if(point.parameters.begin(), point.parameters.end(), std::inserter(found, found.end()),
                 [&](auto const& parameter) { return sets_compute(type, parameter.first); });
    return found;
}

/// Collective.
Load load_of(Bootstrap& bootstrap, std::span<Plan const> plans, BufferChoice const& choice, std::size_t cells) {
    std::size_t steps = 0;
    for (Plan const& plan : plans) {
        steps = std::max(steps, plan.steps.size());
    }
    auto const mine = static_cast<std::int64_t>(cells * measure::positions_of(plans.size(), choice.use.slots) * steps);
    return {choice.use.pool_bytes + choice.use.flush_bytes,
            static_cast<std::uint64_t>(reduce_over_ranks(bootstrap, mine, Fold::max))};
}

/// Collective.
Bytes least_host_free(Bootstrap& bootstrap) {
    return static_cast<Bytes>(
        reduce_over_ranks(bootstrap, static_cast<std::int64_t>(available_host_memory()), Fold::min));
}

/// How much memory libraries hold on a device is not known.
bool has_device_pages(MemoryKind memory) {
    return on_device(memory) || memory == MemoryKind::managed;
}

/// The error of the common clock counts where the sample is a span on it.
bool is_below_floor(measure::CellResult const& result, double timer_ns) {
    measure::ClockFloor floor{timer_ns};
    if (result.sync.is_span) {
        floor.common_error_ns = static_cast<double>(result.sync.clock_error_ns);
    }
    return measure::is_below_floor(result.time.median * static_cast<double>(result.iterations_per_sample), floor);
}

}  // namespace

bool fits_beside(Load const& ready, Load const& next, Room const& room, Bytes host_free_now) {
    return host_free_now >= room.host_free / 2 && ready.pools + next.pools <= room.pool_limit &&
           ready.compiled_steps + next.compiled_steps <= most_steps_of_a_batch;
}

void Batch::add(SweepPoint const& point) {
    // What a cell without compute steps takes is known to the one with them only once it is over.
    bool const alone = !source_.options.rounds_over_sweep || has_device_pages(point.memory);
    if (!points_.empty() &&
        (alone || compute_steps_of(source_.type, point) != compute_steps_of(source_.type, *points_.front().point))) {
        run();
    }
    std::unique_ptr<Pattern> const pattern = source_.type.make(point.parameters, source_.world);
    PointCells cells = cells_of(source_, point, *pattern);
    for (PointCells::Skipped const& skipped : cells.skipped) {
        skip(point, skipped.cell, skipped.reason);
    }
    reporter_.resumed(cells.finished);
    if (!cells.open.empty()) {
        prepare(point, *pattern, std::move(cells.open));
    }
    if (alone) {
        run();
    }
}

void Batch::prepare(SweepPoint const& point, Pattern const& pattern, std::vector<measure::Cell> cells) {
    // From here on ranks wait for each other; a hang before the first cell is compiled is recorded under that cell.
    reporter_.expect(point.title, record_of(cells.front()));
    auto const announce = [&] {
        launch_.watchdog.arm(point.title, launch_.options.timeout_ns);
        launch_.watchdog.activity("traffic set-up");
        reporter_.doing("traffic set-up");
    };
    auto const skip_all = [&](std::string const& reason) {
        launch_.watchdog.disarm();
        for (measure::Cell const& cell : cells) {
            skip(point, cell, reason);
        }
    };
    announce();
    std::string reason;
    std::unique_ptr<MemorySpace> space = memory_on_all_ranks(launch_.bootstrap, point.memory, reason);
    if (space == nullptr) {
        skip_all(reason);
        return;
    }
    Traffic traffic = prepare_traffic(launch_.bootstrap, pattern, source_.type.phases, source_.options.seed,
                                      draws_of(pattern, source_.options));
    auto const choose = [&] {
        return choose_buffers(launch_.bootstrap, machine_, launch_.options.cache, point.memory, traffic.plans);
    };
    BufferChoice choice = choose();
    auto const fits = [&] {
        return choice.why_not.empty() && !choice.shrunk &&
               fits_beside(ready_, load_of(launch_.bootstrap, traffic.plans, choice, cells.size()), room_,
                           least_host_free(launch_.bootstrap));
    };
    if (!points_.empty() && !fits()) {
        run();
        announce();
        choice = choose();
    }
    if (!choice.why_not.empty()) {
        skip_all(choice.why_not);
        return;
    }
    if (points_.empty()) {
        room_ = {choice.pool_limit, least_host_free(launch_.bootstrap)};
    }
    Load const load = load_of(launch_.bootstrap, traffic.plans, choice, cells.size());
    points_.push_back(fill_buffers(point, std::move(space), std::move(traffic), choice));
    bool any_runs = false;
    for (measure::Cell& cell : cells) {
        if (compile(points_.back(), cell)) {
            cells_.push_back(std::move(cell));
            any_runs = true;
        }
    }
    if (!any_runs) {
        points_.pop_back();
        return;
    }
    ready_.pools += load.pools;
    ready_.compiled_steps += load.compiled_steps;
}

Batch::ReadyPoint Batch::fill_buffers(SweepPoint const& point, std::unique_ptr<MemorySpace> space, Traffic traffic,
                                      BufferChoice const& choice) {
    launch_.watchdog.activity("preparing buffers");
    measure::PointSetup setup{choice.use.slots, launch_.options.fill};
    setup.flushed_cache = choice.use.flush_bytes > 0 ? choice.use.cache_bytes : 0;
    setup.gpu = has_device_pages(point.memory) ? machine_.throttling : nullptr;
    ReadyPoint ready{&point, std::move(space), std::move(traffic), choice.use, nullptr, std::nullopt};
    ready.prepared = std::make_unique<measure::PreparedPoint>(launch_.bootstrap, *ready.space,
                                                              std::move(ready.traffic.plans), setup);
    ready.pages = look_at_pages(launch_.bootstrap, machine_, point.memory, ready.prepared->allocations());
    return ready;
}

bool Batch::compile(ReadyPoint const& ready, measure::Cell& cell) {
    cell.point = ready.prepared.get();
    reporter_.expect(cell.name, describe(ready, cell));
    launch_.watchdog.arm(cell.name, launch_.options.timeout_ns);
    launch_.watchdog.activity("set-up");
    reporter_.doing(fmt::format("setting up {} {}", cell.identity.backend, cell.identity.method));
    std::string const why_not = cell.compile(launch_.bootstrap);
    if (!why_not.empty()) {
        record::Record record = describe(ready, cell);
        record.result.status = measure::Status::skipped;
        record.result.reason = why_not;
        reporter_.cell(record, ready.point->title);
    }
    return why_not.empty();
}

void Batch::skip(SweepPoint const& point, measure::Cell const& cell, std::string const& reason) {
    record::Record record = record_of(cell);
    record.result.status = measure::Status::skipped;
    record.result.reason = reason;
    reporter_.cell(record, point.title);
}

record::Record Batch::describe(ReadyPoint const& ready, measure::Cell const& cell) const {
    record::Record record = record_of(cell);
    record.traffic = ready.traffic.total;
    record.statistics = ready.traffic.statistics;
    for (PhaseSummary const& phase : ready.traffic.phases) {
        record.phases.push_back({phase.label, phase.traffic});
    }
    record.cache = ready.cache;
    record.host_pages = ready.pages;
    return record;
}

void Batch::report(measure::Cell const& cell, measure::CellResult const& result) {
    auto const ready = std::find_if(points_.begin(), points_.end(),
                                    [&](ReadyPoint const& each) { return each.prepared.get() == cell.point; });
    record::Record record = describe(*ready, cell);
    record.result = result;
    if (auto const& calibration = reporter_.launch().calibration; calibration && !result.samples_ns.empty()) {
        record.result.below_floor = is_below_floor(result, calibration->timer.cost_ns);
    }
    overlap_.add(record);
    reporter_.cell(record, ready->point->title);
}

void Batch::run() {
    if (std::size_t left = cells_.size(); left > 0) {
        reporter_.doing(fmt::format("measuring {} cells of {} points in turns", left, points_.size()));
        measure::run_cells(launch_, cells_, [&](measure::Cell const& cell, measure::CellResult const& result) {
            report(cell, result);
            reporter_.doing(fmt::format("measuring {} more cells in turns", --left));
        });
    }
    launch_.watchdog.disarm();
    cells_.clear();
    points_.clear();
    ready_ = {};
}

}  // namespace dlmb::app

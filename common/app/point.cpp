// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/point.hpp"

#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/statistics/series.hpp"

namespace dlmb::app {
namespace {

measure::BufferPool filled_pool(LaunchContext& launch, MemorySpace& space, Traffic const& traffic,
                                BufferChoice const& choice) {
    launch.watchdog.activity("preparing buffers");
    measure::BufferPool pool(space, measure::buffer_sizes(traffic.plans), choice.use.slots);
    measure::fill_slots(space, pool.slots(), traffic.plans, launch.options.runner.fill);
    return pool;
}

void describe(std::vector<Entry>& entries, Traffic const& traffic, BufferChoice const& choice,
              std::optional<record::HostPages> const& pages) {
    for (Entry& entry : entries) {
        record::Record& cell = entry.cell;
        cell.traffic = traffic.total;
        cell.statistics = traffic.statistics;
        for (PhaseSummary const& phase : traffic.phases) {
            cell.phases.push_back({phase.label, phase.traffic});
        }
        cell.cache = choice.use;
        cell.host_pages = pages;
    }
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

Point::Point(LaunchContext& launch, Variant const& variant, std::unique_ptr<MemorySpace> space, Traffic traffic,
             BufferChoice const& choice, std::vector<Entry> entries)
    : launch_(launch), variant_(variant), space_(std::move(space)), traffic_(std::move(traffic)),
      pool_(filled_pool(launch, *space_, traffic_, choice)), contest_{launch.bootstrap, *space_, pool_.slots(),
                                                                      traffic_.plans, launch.start} {
    if (choice.use.flush_bytes > 0) {
        contest_.flush = &flush_.emplace(*space_, choice.use.cache_bytes);
    }
    MemoryKind const memory = space_->kind();
    if (on_device(memory) || memory == MemoryKind::managed) {
        contest_.gpu = launch.throttling;
    }
    describe(entries, traffic_, choice, look_at_pages(launch, memory, pool_.allocations()));
    compiled_ = compile_entries(launch, variant, contest_, std::move(entries));
}

measure::ContestRun Point::contest_run(std::function<void()> cell_over) {
    return {contest_, compiled_.candidates,
            [this, cell_over = std::move(cell_over)](std::size_t index, measure::CellResult const& result) {
                report(index, result);
                cell_over();
            }};
}

void Point::report(std::size_t index, measure::CellResult const& result) {
    record::Record cell = compiled_.entries[index].cell;
    cell.result = result;
    if (auto const& calibration = launch_.reporter.launch().calibration; calibration && !result.samples_ns.empty()) {
        cell.result.below_floor = is_below_floor(result, calibration->timer.cost_ns);
    }
    cell.backend_facts = compiled_.candidates[index].positions.front()->provenance();  // before what its backend says
    cell.backend_facts.merge(compiled_.entries[index].backend->provenance());
    launch_.overlap.add(cell);
    launch_.reporter.cell(cell, variant_.title);
}

}  // namespace dlmb::app

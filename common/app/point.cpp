// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/point.hpp"

#include "common/app/buffer_choice.hpp"
#include "common/app/candidates.hpp"
#include "common/app/compete.hpp"
#include "common/backend/registry.hpp"
#include "common/measure/buffer_pool.hpp"
#include "common/measure/slot_fill.hpp"

#include <fmt/core.h>

namespace dlmb::app {
namespace {

void skip_all(LaunchContext& launch, Variant const& variant, std::vector<Entry> const& entries,
              std::string const& reason) {
    for (Entry const& entry : entries) {
        report_skipped(launch, variant, entry, reason);
    }
}

void fill_in(record::Cell& cell, Traffic const& traffic) {
    cell.traffic = traffic.total;
    cell.statistics = traffic.statistics;
    for (PhaseSummary const& phase : traffic.phases) {
        cell.phases.push_back({phase.label, phase.traffic});
    }
}

}  // namespace

std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind, std::string& why_not) {
    std::unique_ptr<MemorySpace> space = make_memory(kind, why_not);
    std::vector<std::int64_t> have{space == nullptr ? 0 : 1};
    bootstrap.all_reduce(have, Fold::min);
    if (have[0] == 0 && space != nullptr) {
        why_not = fmt::format("another rank has no {} memory", name_of(kind));
    }
    return have[0] == 0 ? nullptr : std::move(space);
}

void measure_point(LaunchContext& launch, Variant const& variant, MemoryKind memory) {
    std::unique_ptr<Pattern> const pattern = launch.type.make(variant.parameters, launch.world);
    std::vector<Entry> entries = open_entries(launch, variant, *pattern, memory);
    if (entries.empty()) {
        return;
    }
    // From here on ranks wait for each other; a hang before the first cell is compiled is recorded under that cell.
    launch.reporter.expect(variant.title, entries.front().cell);
    launch.watchdog.arm(variant.title, launch.options.runner.timeout_ns);
    launch.watchdog.activity("traffic set-up");
    std::string reason;
    std::unique_ptr<MemorySpace> const space = memory_on_all_ranks(launch.bootstrap, memory, reason);
    if (space == nullptr) {
        launch.watchdog.disarm();
        skip_all(launch, variant, entries, reason);
        return;
    }
    launch.reporter.doing("traffic set-up");
    Traffic const traffic = prepare_traffic(launch.bootstrap, *pattern, launch.type.phases, launch.options.seed,
                                            draws_of(*pattern, launch.options));
    BufferChoice const choice = choose_buffers(launch, memory, traffic.plans);
    if (!choice.why_not.empty()) {
        launch.watchdog.disarm();
        skip_all(launch, variant, entries, choice.why_not);
        return;
    }
    launch.watchdog.activity("preparing buffers");
    measure::BufferPool const pool(*space, measure::buffer_sizes(traffic.plans), choice.use.slots);
    measure::fill_slots(*space, pool.slots(), traffic.plans, launch.options.runner.fill);
    std::optional<measure::CacheFlush> flush;
    if (choice.use.flush_bytes > 0) {
        flush.emplace(*space, choice.use.cache_bytes);
    }
    std::optional<record::HostPages> const pages = look_at_pages(launch, memory, pool.allocations());
    for (Entry& entry : entries) {
        fill_in(entry.cell, traffic);
        entry.cell.cache = choice.use;
        entry.cell.host_pages = pages;
    }
    bool const uses_gpu = on_device(memory) || memory == MemoryKind::managed;
    measure::Contest const contest{launch.bootstrap,
                                   *space,
                                   pool.slots(),
                                   traffic.plans,
                                   launch.start,
                                   flush ? &*flush : nullptr,
                                   uses_gpu ? launch.throttling : nullptr};
    compete(launch, variant, contest, entries);
    launch.watchdog.disarm();
}

}  // namespace dlmb::app

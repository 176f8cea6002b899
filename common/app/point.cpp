// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/point.hpp"

#include "common/app/candidates.hpp"
#include "common/backend/registry.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unistd.h>

namespace dlmb::app {
namespace {

/// Bytes of memory that this node can still give, as the kernel estimates it; 0: unknown.
Bytes available_memory() {
    long const pages = sysconf(_SC_AVPHYS_PAGES);
    long const page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<Bytes>(pages) * static_cast<Bytes>(page) : 0;
}

/// Collective. Empty when the node's memory suffices on all ranks; otherwise the reason for a skipped record. Asked
/// before anything is touched: the kernel's out-of-memory killer would end the launch without a word.
std::string lacks_memory(Bootstrap& bootstrap, std::span<Bytes const> sizes) {
    Bytes mine = 0;
    for (Bytes const size : sizes) {
        mine += size;
    }
    Bytes const node = mine * static_cast<Bytes>(bootstrap.local_size());
    Bytes const available = available_memory();
    std::vector<std::int64_t> worst{available > 0 && node > available ? static_cast<std::int64_t>(node) : 0};
    bootstrap.all_reduce(worst, Fold::max);
    if (worst[0] == 0) {
        return "";
    }
    return fmt::format("needs {} of memory on a node, more than is free; make the traffic smaller or use more nodes",
                       human_bytes(static_cast<Bytes>(worst[0])));
}

std::vector<Allocation> allocate(MemorySpace& space, std::span<Bytes const> sizes) {
    std::vector<Allocation> allocations;
    for (Bytes const size : sizes) {
        allocations.push_back(space.allocate(size));
    }
    return allocations;
}

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
    std::vector<Bytes> const sizes = buffer_sizes(traffic.plans);
    reason = lacks_memory(launch.bootstrap, sizes);
    if (!reason.empty()) {
        launch.watchdog.disarm();
        skip_all(launch, variant, entries, reason);
        return;
    }
    std::vector<Allocation> const allocations = allocate(*space, sizes);
    Buffers buffers{memory, {}};
    for (Allocation const& allocation : allocations) {
        buffers.base.push_back(allocation.data());
    }
    for (Entry& entry : entries) {
        fill_in(entry.cell, traffic);
    }
    measure::Contest const contest{launch.bootstrap, *space, buffers, traffic.plans, launch.start};
    compete(launch, variant, contest, entries);
    launch.watchdog.disarm();
}

}  // namespace dlmb::app

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/buffer_choice.hpp"

#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/buffers/rotation.hpp"
#include "common/memory/available_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace dlmb::app {
namespace {

using measure::CacheFlush;
using measure::CacheMode;

constexpr Bytes pool_part = 4;  // of what a rank may have; libraries and scratch of algorithms need some as well
constexpr std::size_t pages_per_rank = 64;
constexpr Bytes unlimited = std::numeric_limits<std::int64_t>::max();

bool has_host_pages(MemoryKind memory) {
    return memory == MemoryKind::host || memory == MemoryKind::pinned;
}

/// Of this rank: where the payload may stay between two iterations.
Bytes cache_of(Machine const& machine, MemoryKind memory) {
    bool const by_device = !has_host_pages(memory) && machine.device.device;
    return std::max(machine.host_cache, by_device ? machine.device.device->cache : 0);
}

/// What this rank may take of the memory that is free now.
Bytes share_of_memory(Bootstrap const& bootstrap, Machine const& machine, MemoryKind memory) {
    auto const neighbours = static_cast<Bytes>(bootstrap.local_size());
    Bytes share = available_host_memory() / neighbours;
    if (on_device(memory) && machine.device.device) {
        share = machine.device.device->memory / (machine.shared_gpu ? neighbours : 1);
    }
    return share == 0 ? unlimited : share;
}

std::uint64_t most_steps(std::span<Plan const> plans) {
    std::size_t most = 0;
    for (Plan const& plan : plans) {
        most = std::max(most, plan.steps.size());
    }
    return most;
}

}  // namespace

BufferChoice choose_buffers(Bootstrap& bootstrap, Machine const& machine, CacheMode mode, MemoryKind memory,
                            std::span<Plan const> plans) {
    std::vector<Bytes> const sizes = measure::buffer_sizes(plans);
    Bytes const slot = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    Bytes const stride = std::accumulate(sizes.begin(), sizes.end(), Bytes{0},
                                         [](Bytes sum, Bytes size) { return sum + measure::slot_stride(size); });
    auto cache = static_cast<std::int64_t>(cache_of(machine, memory));
    bootstrap.all_reduce({&cache, 1}, Fold::max);
    auto const cache_bytes = static_cast<Bytes>(cache);

    Bytes const share = share_of_memory(bootstrap, machine, memory);
    Bytes const flush = mode == CacheMode::flush ? CacheFlush::bytes_for(cache_bytes) : 0;
    Bytes const least = slot + flush;
    Bytes const wanted = mode == CacheMode::rotate ? measure::slots_wanted(slot, cache_bytes, most_steps(plans)) : 1;
    std::array<std::int64_t, 6> most{static_cast<std::int64_t>(wanted),
                                     static_cast<std::int64_t>(slot),
                                     least > share ? static_cast<std::int64_t>(least) : 0,
                                     -static_cast<std::int64_t>(measure::slots_affordable(stride, share / pool_part)),
                                     -static_cast<std::int64_t>(measure::slots_affordable(stride, unlimited)),
                                     -static_cast<std::int64_t>(share / pool_part)};
    bootstrap.all_reduce(most, Fold::max);
    auto const [wanted_most, slot_most, lacking, affordable_negated, in_any_memory_negated, limit_negated] = most;
    BufferChoice choice{"", {.mode = mode, .cache_bytes = cache_bytes}};
    if (lacking > 0) {
        choice.why_not = fmt::format("needs {} of {} memory per rank, more than is free; make the traffic smaller or "
                                     "use more nodes",
                                     human_bytes(static_cast<Bytes>(lacking)), name_of(memory));
        return choice;
    }
    if (mode == CacheMode::flush && cache_bytes == 0) {
        choice.why_not = "the system does not say how large the caches are that --cache flush is to sweep";
        return choice;
    }
    choice.use.slots = measure::slots_for(static_cast<std::uint64_t>(wanted_most),
                                          static_cast<std::uint64_t>(-affordable_negated), plans.size());
    choice.use.pool_bytes = choice.use.slots * static_cast<Bytes>(slot_most);
    choice.use.flush_bytes = flush;
    choice.shrunk =
        choice.use.slots < measure::slots_for(static_cast<std::uint64_t>(wanted_most),
                                              static_cast<std::uint64_t>(-in_any_memory_negated), plans.size());
    choice.pool_limit = static_cast<Bytes>(-limit_negated);
    bool const covered = slot == 0 || choice.use.slots * slot >= measure::caches_in_pool * cache_bytes;
    std::int64_t covers = cache_bytes > 0 && covered ? 1 : 0;
    bootstrap.all_reduce({&covers, 1}, Fold::min);
    choice.use.covers_llc = covers != 0;
    return choice;
}

std::optional<record::HostPages> look_at_pages(Bootstrap& bootstrap, Machine const& machine, MemoryKind memory,
                                               std::span<Allocation const> allocations) {
    if (!has_host_pages(memory)) {
        return std::nullopt;
    }
    std::vector<int> wanted = machine.numa_nodes;
    if (memory == MemoryKind::pinned && machine.device.device && machine.device.device->numa_node >= 0) {
        wanted = {machine.device.device->numa_node};
    }
    std::size_t const each = std::max<std::size_t>(1, pages_per_rank / std::max<std::size_t>(1, allocations.size()));
    std::array<std::int64_t, 2> sums{};
    for (Allocation const& allocation : allocations.first(std::min(allocations.size(), pages_per_rank))) {
        PagePlacement const found = sample_pages(allocation.data(), allocation.bytes(), wanted, each);
        sums[0] += static_cast<std::int64_t>(found.sampled);
        sums[1] += static_cast<std::int64_t>(found.elsewhere);
    }
    bootstrap.all_reduce(sums, Fold::sum);
    auto huge = static_cast<std::int64_t>(huge_page_bytes());
    bootstrap.all_reduce({&huge, 1}, Fold::max);
    return record::HostPages{{static_cast<std::uint64_t>(sums[0]), static_cast<std::uint64_t>(sums[1])},
                             static_cast<Bytes>(huge)};
}

}  // namespace dlmb::app

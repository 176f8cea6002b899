// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/point_memory.hpp"

#include "common/base/digits.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace dlmb::run {
namespace {

constexpr Bytes pool_part = 4;  // of what a rank may have; libraries and scratch of algorithms need some as well
constexpr std::size_t pages_per_rank = 64;
constexpr Bytes unlimited = std::numeric_limits<std::int64_t>::max();

bool has_host_pages(MemoryKind memory) {
    return memory == MemoryKind::host || memory == MemoryKind::pinned || memory == MemoryKind::ucx;
}

/// Size of the largest cache of this rank in which payload may stay between two iterations.
Bytes cache_of(RankHardware const& hardware, MemoryKind memory) {
    bool const by_device = !has_host_pages(memory) && hardware.device.device;
    return std::max(hardware.host_cache, by_device ? hardware.device.device->cache : 0);
}

/// The share of the free memory that this rank may use.
Bytes share_of_memory(Bootstrap const& bootstrap, RankHardware const& hardware, MemoryKind memory) {
    auto const neighbours = static_cast<Bytes>(bootstrap.local_size());
    Bytes share = available_host_memory() / neighbours;
    // Half of what may be mapped: libraries map as much again for large messages, and end the process where they can't.
    if (Bytes const mappable = mappable_memory() / 2; mappable > 0) {
        share = std::min(share == 0 ? unlimited : share, mappable);
    }
    if (on_device(memory) && hardware.device.device) {
        share = free_device_memory() / (hardware.shared_gpu ? neighbours : 1);
    }
    return share == 0 ? unlimited : share;
}

std::size_t most_steps(std::span<Plan const> plans) {
    std::size_t most = 0;
    for (Plan const& plan : plans) {
        most = std::max(most, plan.steps.size());
    }
    return most;
}

}  // namespace

bool fits_beside(PointUse const& ready, PointUse const& next, PointLimits const& limits, Bytes host_free_now) {
    return host_free_now >= limits.host_free / 2 && ready.pools + next.pools <= limits.pool_limit &&
           ready.compiled_steps + next.compiled_steps <= most_steps_of_a_batch;
}

bool has_device_pages(MemoryKind memory) {
    return on_device(memory) || memory == MemoryKind::managed;
}

BufferChoice choose_buffers(Bootstrap& bootstrap, RankHardware const& hardware, record::CacheMode mode,
                            MemoryKind memory, Bytes limit, std::span<Plan const> plans) {
    std::vector<Bytes> const sizes = measure::allocated_sizes(bootstrap, memory, plans);
    Bytes const slot = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    Bytes const stride = std::accumulate(sizes.begin(), sizes.end(), Bytes{0},
                                         [](Bytes sum, Bytes size) { return sum + measure::slot_stride(size); });
    auto const cache_bytes = static_cast<Bytes>(
        reduce_over_ranks(bootstrap, static_cast<std::int64_t>(cache_of(hardware, memory)), Fold::max));
    Bytes const share = share_of_memory(bootstrap, hardware, memory);
    Bytes const available = std::min(share / pool_part, limit);
    Bytes const flush = mode == record::CacheMode::flush ? measure::CacheFlush::bytes_for(cache_bytes) : 0;
    Bytes const least = slot + flush;
    Bytes const wanted =
        mode == record::CacheMode::rotate ? measure::slots_wanted(slot, cache_bytes, most_steps(plans)) : 1;
    std::array<std::int64_t, 6> most{static_cast<std::int64_t>(wanted),
                                     static_cast<std::int64_t>(slot),
                                     least > std::min(share, limit) ? static_cast<std::int64_t>(least) : 0,
                                     -static_cast<std::int64_t>(measure::slots_affordable(stride, available)),
                                     -static_cast<std::int64_t>(measure::slots_affordable(stride, unlimited)),
                                     -static_cast<std::int64_t>(available)};
    bootstrap.all_reduce(most, Fold::max);
    auto const [wanted_most, slot_most, lacking, affordable_negated, in_any_memory_negated, limit_negated] = most;
    BufferChoice choice{"", {.mode = mode, .cache_bytes = cache_bytes}};
    if (lacking > 0) {
        auto const needed = static_cast<Bytes>(lacking);
        choice.why_not = fmt::format(
            "needs {} of {} memory per rank, more than {}", human_bytes(needed), name_of(memory),
            needed > limit ? "--buffer-limit allows" : "is free; make the traffic smaller or use more nodes");
        return choice;
    }
    if (mode == record::CacheMode::flush && cache_bytes == 0) {
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
    choice.use.covers_llc = !any_rank(bootstrap, cache_bytes == 0 || !covered);
    return choice;
}

std::optional<record::HostPages> locate_pages(Bootstrap& bootstrap, RankHardware const& hardware, MemoryKind memory,
                                              std::span<Allocation const> allocations) {
    if (!has_host_pages(memory)) {
        return std::nullopt;
    }
    std::vector<int> wanted = hardware.numa_nodes;
    if (memory == MemoryKind::pinned && hardware.device.device && hardware.device.device->numa_node >= 0) {
        wanted = {hardware.device.device->numa_node};
    }
    std::size_t const each = std::max<std::size_t>(1, pages_per_rank / std::max<std::size_t>(1, allocations.size()));
    std::array<std::int64_t, 2> sums{};
    for (Allocation const& allocation : allocations.first(std::min(allocations.size(), pages_per_rank))) {
        PagePlacement const found = sample_pages(allocation.data(), allocation.bytes(), wanted, each);
        sums[0] += static_cast<std::int64_t>(found.sampled);
        sums[1] += static_cast<std::int64_t>(found.elsewhere);
    }
    bootstrap.all_reduce(sums, Fold::sum);
    std::int64_t const huge = reduce_over_ranks(bootstrap, static_cast<std::int64_t>(huge_page_bytes()), Fold::max);
    return record::HostPages{static_cast<std::uint64_t>(sums[0]), static_cast<std::uint64_t>(sums[1]),
                             static_cast<Bytes>(huge)};
}

PointUse use_of(Bootstrap& bootstrap, std::span<Plan const> plans, BufferChoice const& choice, std::size_t cells) {
    auto const mine =
        static_cast<std::int64_t>(cells * measure::positions_of(plans.size(), choice.use.slots) * most_steps(plans));
    return {choice.use.pool_bytes + choice.use.flush_bytes,
            static_cast<std::uint64_t>(reduce_over_ranks(bootstrap, mine, Fold::max))};
}

Bytes least_host_free(Bootstrap& bootstrap) {
    return static_cast<Bytes>(
        reduce_over_ranks(bootstrap, static_cast<std::int64_t>(available_host_memory()), Fold::min));
}

}  // namespace dlmb::run

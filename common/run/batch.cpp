// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/batch.hpp"

#include "common/base/digits.hpp"
#include "common/base/statistics/series.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/memory/host_space.hpp"
#include "common/run/known_faults.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace dlmb::run {
namespace {

Parameters compute_steps_of(PatternType const& type, SweepPoint const& point) {
    Parameters found;
    std::copy_if(point.parameters.begin(), point.parameters.end(), std::inserter(found, found.end()),
                 [&](auto const& parameter) { return sets_compute(type, parameter.first); });
    return found;
}

constexpr Bytes pool_part = 4;  // of what a rank may have; libraries and scratch of algorithms need some as well
constexpr std::size_t pages_per_rank = 64;
constexpr Bytes announced_bytes = Bytes{1} << 30U;  // to allocate and fill as much takes a while
constexpr Bytes unlimited = std::numeric_limits<std::int64_t>::max();

bool has_host_pages(MemoryKind memory) {
    return memory == MemoryKind::host || memory == MemoryKind::pinned;
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
        share = hardware.device.device->memory / (hardware.shared_gpu ? neighbours : 1);
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

/// Collective, the same on all ranks. Where memory is little the pool shrinks: a quarter of a rank's share of what is
/// free at most, but always one slot.
BufferChoice choose_buffers(Bootstrap& bootstrap, RankHardware const& hardware, record::CacheMode mode,
                            MemoryKind memory, Bytes limit, std::span<Plan const> plans) {
    std::vector<Bytes> const sizes = measure::buffer_sizes(plans);
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

/// Collective. Where the touched pages of these allocations lie; nothing for memory without pages on the host.
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

/// Collective.
PointUse use_of(Bootstrap& bootstrap, std::span<Plan const> plans, BufferChoice const& choice, std::size_t cells) {
    auto const mine =
        static_cast<std::int64_t>(cells * measure::positions_of(plans.size(), choice.use.slots) * most_steps(plans));
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

/// Collective. By whom the cells' backends have plans computed on any rank, the same on all: what a backend answers may
/// depend on the libraries of its node.
std::vector<std::optional<Processor>> computed_by(Bootstrap& bootstrap, std::span<measure::Cell const> cells,
                                                  MemoryKind memory) {
    constexpr std::array<std::optional<Processor>, 3> answers{std::nullopt, Processor::host, Processor::device};
    std::array<std::int64_t, answers.size()> given{};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        given.at(i) = std::any_of(cells.begin(), cells.end(), [&](measure::Cell const& cell) {
            return cell.backend->computes_in(memory) == answers.at(i);
        });
    }
    bootstrap.all_reduce(given, Fold::max);
    std::vector<std::optional<Processor>> all;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (given.at(i) != 0) {
            all.push_back(answers.at(i));
        }
    }
    return all;
}

/// The error of the common clock counts where the sample is a span on it.
bool is_below_floor(record::CellResult const& result, double timer_ns) {
    return statistics::is_below_floor(result.time.median * static_cast<double>(result.iterations_per_sample), timer_ns,
                                      result.sync.is_span ? static_cast<double>(result.sync.clock_error_ns) : 0);
}

/// Adds the messages that all ranks together send per second, where the traffic counts its messages.
void add_message_rate(record::Record& cell) {
    constexpr double nanoseconds_per_second = 1e9;
    auto const messages = cell.statistics.find(window_messages);
    if (messages != cell.statistics.end() && cell.result.time.median > 0) {
        cell.statistics["message_rate_per_s"] = messages->second / cell.result.time.median * nanoseconds_per_second;
    }
}

}  // namespace

bool fits_beside(PointUse const& ready, PointUse const& next, PointLimits const& limits, Bytes host_free_now) {
    return host_free_now >= limits.host_free / 2 && ready.pools + next.pools <= limits.pool_limit &&
           ready.compiled_steps + next.compiled_steps <= most_steps_of_a_batch;
}

Batch::Batch(measure::LaunchShared const& launch, CellSource const& source, RankHardware const& hardware,
             ResumedCells const& resumed, Reporter& reporter)
    : launch_(launch), source_(source), hardware_(hardware), resumed_(resumed), reporter_(reporter),
      relations_(source.type) {
    for (auto const& [id, stored] : resumed.cells()) {
        relations_.add(stored.cell);
    }
}

void Batch::add(SweepPoint const& point) {
    // A cell with compute steps needs the time of the cell without them, so that one has to be measured first.
    bool const alone = !source_.options.rounds_over_sweep || has_device_pages(point.memory);
    if (!points_.empty() &&
        (alone || compute_steps_of(source_.type, point) != compute_steps_of(source_.type, *points_.front().point))) {
        run();
    }
    // Ranks agree on which cells run, and on how long they compute, before the first one is prepared.
    launch_.watchdog.arm(point.title, launch_.options.timeout_ns);
    launch_.watchdog.activity("choosing cells");
    std::unique_ptr<Pattern> const pattern = source_.type.make(point.parameters, source_.world);
    for (std::string const& remark : pattern->remarks()) {
        reporter_.warn(fmt::format("{}: {}", point.title, remark));
    }
    PointCells cells = cells_of(source_, point, *pattern);
    for (PointCells::Skipped const& skipped : cells.skipped) {
        skip(point, skipped.cell, skipped.reason);
    }
    leave_out_finished(point, cells.able);
    std::string_view const compute_time =
        source_.type.set_by_communication == nullptr ? "" : source_.type.set_by_communication(point.parameters);
    if (!compute_time.empty()) {
        prepare_beside(point, compute_time, std::move(cells.able));
    } else if (!cells.able.empty()) {
        prepare(point, *pattern, std::move(cells.able));
    }
    if (alone) {
        run();
    }
}

void Batch::leave_out_finished(SweepPoint const& point, std::vector<measure::Cell>& cells) {
    for (std::string const& id : resumed_.take_out(launch_.bootstrap, cells)) {
        auto const stored = resumed_.cells().find(id);
        reporter_.resumed(stored == resumed_.cells().end() ? nullptr : &stored->second.cell);
        if (stored != resumed_.cells().end()) {
            relations_.await(stored->second.cell, point.title);
        }
    }
}

void Batch::prepare_beside(SweepPoint const& point, std::string_view compute_time, std::vector<measure::Cell> cells) {
    for (measure::Cell& cell : cells) {
        auto const mine = relations_.communication_us(record_of(cell)) * nanoseconds_per_microsecond;
        std::int64_t const alone_ns = reduce_over_ranks(launch_.bootstrap, std::llround(mine), Fold::max);
        if (alone_ns == 0) {
            skip(point, cell,
                 fmt::format("--{} auto: the same cell without computing is not measured, neither in this launch nor, "
                             "with --resume, in the results file; give both, as in --compute none,busy, or a time",
                             compute_time));
            continue;
        }
        Parameters parameters = point.parameters;
        parameters[std::string(compute_time)] =
            fmt::format("{:.3f}", static_cast<double>(alone_ns) / nanoseconds_per_microsecond);
        std::vector<measure::Cell> one;
        one.push_back(std::move(cell));
        prepare(point, *source_.type.make(parameters, source_.world), std::move(one));
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
        return choose_buffers(launch_.bootstrap, hardware_, launch_.options.cache, point.memory,
                              source_.options.buffer_limit, traffic.plans);
    };
    BufferChoice choice = choose();
    auto const fits = [&] {
        return choice.why_not.empty() && !choice.shrunk &&
               fits_beside(ready_, use_of(launch_.bootstrap, traffic.plans, choice, cells.size()), limits_,
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
        limits_ = {choice.pool_limit, least_host_free(launch_.bootstrap)};
    }
    PointUse const use = use_of(launch_.bootstrap, traffic.plans, choice, cells.size());
    if (use.pools >= announced_bytes) {
        reporter_.announce(fmt::format("{}: takes {} of {} memory per rank", point.title, human_bytes(use.pools),
                                       name_of(point.memory)));
    }
    points_.push_back(fill_buffers(point, std::move(space), std::move(traffic), choice, cells));
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
    ready_.pools += use.pools;
    ready_.compiled_steps += use.compiled_steps;
}

Batch::ReadyPoint Batch::fill_buffers(SweepPoint const& point, std::unique_ptr<MemorySpace> space, Traffic traffic,
                                      BufferChoice const& choice, std::span<measure::Cell const> cells) {
    launch_.watchdog.activity("preparing buffers");
    measure::PointSetup setup{choice.use.slots, launch_.options.fill};
    setup.flushed_cache = choice.use.flush_bytes > 0 ? choice.use.cache_bytes : 0;
    setup.gpu = has_device_pages(point.memory) ? hardware_.throttling : nullptr;
    setup.osu = traffic.osu;
    setup.computed_by = computed_by(launch_.bootstrap, cells, point.memory);
    ReadyPoint ready{&point, std::move(space), std::move(traffic), choice.use, nullptr, std::nullopt};
    ready.prepared = std::make_unique<measure::PreparedPoint>(launch_.bootstrap, *ready.space,
                                                              std::move(ready.traffic.plans), setup);
    ready.pages = locate_pages(launch_.bootstrap, hardware_, point.memory, ready.prepared->allocations());
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
        record.result.status = record::Status::skipped;
        record.result.reason = why_not;
        reporter_.cell(record, ready.point->title);
    }
    return why_not.empty();
}

void Batch::skip(SweepPoint const& point, measure::Cell const& cell, std::string const& reason) {
    record::Record record = record_of(cell);
    record.result.status = record::Status::skipped;
    record.result.reason = reason;
    reporter_.cell(record, point.title);
}

record::Record Batch::describe(ReadyPoint const& ready, measure::Cell const& cell) const {
    record::Record record = record_of(cell);
    record.traffic = ready.traffic.total;
    record.statistics = ready.traffic.statistics;
    record.phases = ready.traffic.phases;
    std::vector<std::string> const& labels = ready.prepared->phases().labels();
    for (record::PhaseTraffic& phase : record.phases) {
        auto const known = std::find(labels.begin(), labels.end(), phase.label);
        if (known != labels.end()) {
            auto const copies = ready.prepared->plain_copies(cell.backend->computes_in(ready.prepared->memory()));
            phase.plain_copy = copies[static_cast<std::size_t>(known - labels.begin())];
        }
    }
    record.cache = ready.cache;
    record.host_pages = ready.pages;
    return record;
}

void Batch::report(measure::Cell const& cell, record::CellResult const& result) {
    auto const ready = std::find_if(points_.begin(), points_.end(),
                                    [&](ReadyPoint const& each) { return each.prepared.get() == cell.point; });
    record::Record record = describe(*ready, cell);
    record.result = result;
    if (result.status == record::Status::invalid) {
        std::string const fault = known_fault(record, cell.point->plans(), reporter_.launch().environment.variables);
        record.result.reason += fault.empty() ? "" : "; " + fault;
    }
    if (source_.assumed_nodes) {
        record.result.flags.emplace_back(record::assumed_nodes_flag);
    }
    if (auto const& calibration = reporter_.launch().calibration; calibration && !result.samples_ns.empty()) {
        record.result.below_floor = is_below_floor(result, calibration->timer.cost_ns);
    }
    add_exposed_times(record);
    relations_.add(record);
    relations_.add_overlap(record);
    add_message_rate(record);
    add_packing_times(record);
    if (result.bit_patterns.value_or(0) > 0) {
        record.statistics["bit_patterns"] = static_cast<double>(*result.bit_patterns);
        record.statistics["bit_pattern_iterations"] = static_cast<double>(launch_.options.bit_pattern_iterations);
    }
    reporter_.cell(record, ready->point->title);
    relations_.await(std::move(record), ready->point->title);
}

void Batch::run() {
    if (std::size_t left = cells_.size(); left > 0) {
        auto const tell = [&] {
            if (left > 0) {
                reporter_.doing(fmt::format("measuring {}{}", counted(left, "cell"), at_most(left, launch_.options)));
            }
        };
        tell();
        measure::run_cells(
            launch_, cells_,
            [&](measure::Cell const& cell, record::CellResult const& result) {
                report(cell, result);
                --left;
                tell();
            },
            [&] { reporter_.still(); });
    }
    reporter_.rows();
    for (CellRelations::Completed const& each : relations_.completed()) {
        reporter_.derived(each.cell, each.title, each.statistics);
    }
    launch_.watchdog.disarm();
    cells_.clear();
    points_.clear();
    ready_ = {};
}

}  // namespace dlmb::run

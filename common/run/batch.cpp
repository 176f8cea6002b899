// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/batch.hpp"

#include "common/base/digits.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/run/known_faults.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

namespace dlmb::run {
namespace {

Parameters compute_steps_of(PatternType const& type, SweepPoint const& point) {
    Parameters found;
    std::copy_if(point.parameters.begin(), point.parameters.end(), std::inserter(found, found.end()),
                 [&](auto const& parameter) { return sets_compute(type, parameter.first); });
    return found;
}

bool reads_files(PatternType const& type, auto const& parameters) {
    return type.reads_plans || std::any_of(parameters.begin(), parameters.end(), [](auto const& parameter) {
               return parameter.second.find("file:") != std::string::npos;
           });
}

constexpr Bytes announced_bytes = Bytes{1} << 30U;  // to allocate and fill as much takes a while

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

}  // namespace

Batch::Batch(measure::LaunchShared const& launch, CellSource const& source, RankHardware const& hardware,
             ResumedCells const& resumed, Reporter& reporter)
    : launch_(launch), source_(source), hardware_(hardware), resumed_(resumed), reporter_(reporter),
      relations_(source.type) {
    for (auto const& [id, stored] : resumed.cells()) {
        if (!reads_files(source.type, stored.cell.identity.parameters)) {
            relations_.add(stored.cell);
        }
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
    std::vector<measure::Cell> cells =
        cells_of(source_, point, *pattern,
                 [&](measure::Cell const& cell, std::string const& reason) { skip(point, cell, reason); });
    leave_out_finished(point, *pattern, cells);
    std::string_view const compute_time =
        source_.type.set_by_communication == nullptr ? "" : source_.type.set_by_communication(point.parameters);
    if (!compute_time.empty()) {
        prepare_beside(point, compute_time, std::move(cells));
    } else if (!cells.empty()) {
        prepare(point, *pattern, std::move(cells));
    }
    if (alone) {
        run();
    }
}

void Batch::leave_out_finished(SweepPoint const& point, Pattern const& pattern, std::vector<measure::Cell>& cells) {
    std::optional<std::string> now;
    if (resumed_.resumes() && reads_files(source_.type, point.parameters)) {
        now = traffic_of(point, pattern).hash;
    }
    for (std::string const& id : resumed_.take_out(launch_.bootstrap, cells, now)) {
        auto const stored = resumed_.cells().find(id);
        reporter_.resumed(stored == resumed_.cells().end() ? nullptr : &stored->second.cell);
        if (stored != resumed_.cells().end()) {
            if (now) {  // others were added before any point
                relations_.add(stored->second.cell);
            }
            relations_.await(stored->second.cell, point.title);
        }
    }
    auto const changed = [&](measure::Cell const& cell) {
        auto const stored = resumed_.cells().find(cell.id);
        return stored != resumed_.cells().end() && stored->second.cell.traffic_hash != *now;
    };
    if (now && std::any_of(cells.begin(), cells.end(), changed)) {
        reporter_.warn(fmt::format("--resume: {}: its file does not say the traffic that was measured; measured again",
                                   point.title));
    }
}

Traffic Batch::traffic_of(SweepPoint const& point, Pattern const& pattern) const {
    Traffic traffic = prepare_traffic(launch_.bootstrap, pattern, source_.type.phases, source_.options.seed,
                                      draws_of(pattern, source_.options), [this] { launch_.watchdog.touch(); });
    if (reads_files(source_.type, point.parameters)) {
        traffic.hash =
            hash_of(launch_.bootstrap, traffic.plans,
                    source_.type.set_by_communication == nullptr ? ComputeTimes::counted : ComputeTimes::left_out);
    }
    return traffic;
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
    Traffic traffic = traffic_of(point, pattern);
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
    auto const or_fail = [&](measure::Cell const& cell, auto const& work) {
        try {
            return work();
        } catch (std::exception const& error) {
            end(point, record_of(cell), record::Status::failed, error.what());
            throw;
        }
    };
    points_.push_back(or_fail(
        cells.front(), [&] { return fill_buffers(point, std::move(space), std::move(traffic), choice, cells); }));
    bool any_runs = false;
    for (measure::Cell& cell : cells) {
        if (or_fail(cell, [&] { return compile(points_.back(), cell); })) {
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
    setup.touch = [this] { launch_.watchdog.touch(); };
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
    std::string const why_not = cell.compile(launch_.bootstrap, [this] { launch_.watchdog.touch(); });
    if (!why_not.empty()) {
        end(*ready.point, describe(ready, cell), record::Status::skipped, why_not);
    }
    return why_not.empty();
}

void Batch::end(SweepPoint const& point, record::Record record, record::Status status, std::string const& reason) {
    record.result.status = status;
    record.result.reason = reason;
    reporter_.cell(record, point.title);
}

void Batch::skip(SweepPoint const& point, measure::Cell const& cell, std::string const& reason) {
    end(point, record_of(cell), record::Status::skipped, reason);
}

record::Record Batch::describe(ReadyPoint const& ready, measure::Cell const& cell) const {
    record::Record record = record_of(cell);
    record.traffic = ready.traffic.total;
    record.traffic_hash = ready.traffic.hash;
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
    auto const& calibration = reporter_.launch().calibration;
    add_figures(record, calibration ? std::optional(calibration->timer.cost_ns) : std::nullopt);
    relations_.add(record);
    relations_.add_overlap(record);
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

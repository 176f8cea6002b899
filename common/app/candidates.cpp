// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/candidates.hpp"

#include "common/app/overlap.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"
#include "common/bootstrap/first_reason.hpp"
#include "common/measure/flags.hpp"
#include "common/measure/rotation.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

namespace dlmb::app {
namespace {

/// A method of that name that serves one of the operations, on equal blocks at least: compile() says what else it
/// needs, the kind of memory included.
bool changes_something(Backend const& backend, std::string_view name, std::span<OperationUse const> uses) {
    auto const methods = backend.methods();
    return std::any_of(methods.begin(), methods.end(), [&](MethodInfo const& method) {
        return method.name == name && std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) {
                   return method.operations.has(use.kind);
               });
    });
}

/// The requested methods that this backend has and that make a difference to this traffic, "default" resolved to the
/// name it stands for.
std::vector<MethodChoice> methods_of(Backend const& backend, MemoryKind memory, std::span<OperationUse const> uses,
                                     Options const& options) {
    std::vector<MethodInfo> const useful = methods_for(backend.methods_on(memory), uses);
    std::vector<MethodChoice> chosen;
    auto const add = [&](MethodChoice const& method) {
        if (std::find(chosen.begin(), chosen.end(), method) == chosen.end()) {
            chosen.push_back(method);
        }
    };
    for (MethodChoice method : options.methods) {
        if (method.name == "default") {
            MethodInfo const* const standard = default_method(backend.methods_on(memory), uses.front());
            method.name = standard == nullptr ? method.name : standard->name;
        }
        if (changes_something(backend, method.name, uses)) {
            add(method);
        }
    }
    if (options.all_methods) {
        for (MethodInfo const& info : useful) {
            add({std::string(info.name), {}});
        }
        for (MethodChoice const& variant : backend.variants(memory, uses)) {
            add(variant);
        }
    }
    return chosen;
}

/// What the cells of one point have in common.
struct CellPlace {
    LaunchContext const& launch;
    Variant const& variant;
    MemoryKind memory;
    std::uint32_t draws;
};

Entry make_entry(CellPlace const& place, std::string_view backend, MethodChoice const& method) {
    auto const& [launch, variant, memory, draws] = place;
    Entry entry;
    entry.method = method;
    record::CellIdentity& identity = entry.cell.identity;
    identity.pattern = launch.type.name;
    identity.preset = variant.preset;
    identity.parameters = {variant.parameters.begin(), variant.parameters.end()};
    identity.backend = backend;
    identity.method = to_string(method);
    identity.memory = name_of(memory);
    identity.mode = launch.options.runner.mode == measure::Mode::stream ? "stream" : "isolated";
    identity.world = launch.world;
    identity.seed = launch.options.seed;
    identity.draws = draws;
    identity.cache = launch.options.runner.cache;
    identity.fill = launch.options.runner.fill;
    entry.cell.cache.mode = identity.cache;
    entry.cell.cell_id = record::cell_id(identity, {variant.preset_values.begin(), variant.preset_values.end()});
    return entry;
}

std::string candidate_name(Variant const& variant, Entry const& entry) {
    return fmt::format("{} {} {} {}", variant.title, entry.cell.identity.backend, entry.cell.identity.method,
                       entry.cell.identity.memory);
}

/// Collective. No positions and a reason when this method cannot run these plans.
measure::Candidate compile(LaunchContext& launch, measure::Contest const& contest, Entry const& entry, std::string name,
                           std::string& why_not) {
    measure::Candidate candidate{std::move(name), entry.backend, {}, 0, entry.cell.is_default};
    launch.watchdog.arm(candidate.name, launch.options.runner.timeout_ns);
    launch.watchdog.activity("set-up");
    launch.reporter.doing(fmt::format("setting up {} {}", entry.cell.identity.backend, entry.cell.identity.method));
    Nanoseconds const start = now_ns();
    std::uint64_t const positions = measure::positions_of(contest.plans.size(), contest.slots.size());
    for (std::uint64_t position = 0; position < positions; ++position) {
        auto compiled = entry.backend->compile(contest.plans[position % contest.plans.size()],
                                               contest.slots[position % contest.slots.size()], entry.method);
        if (position < contest.plans.size()) {
            why_not = first_reason(launch.bootstrap, compiled ? "" : compiled.error().reason);
        } else if (!compiled) {
            throw Error(fmt::format("{}: compiled for the first buffers and not for others: {}", candidate.name,
                                    compiled.error().reason));
        }
        if (!why_not.empty()) {
            candidate.positions.clear();
            break;
        }
        candidate.positions.push_back(std::move(compiled).value());
    }
    candidate.setup_ns = now_ns() - start;
    entry.backend->quiesce();
    return candidate;
}

/// The error of the common clock counts where the sample is a span on it.
bool is_below_floor(measure::CellResult const& result, double timer_ns) {
    measure::ClockFloor floor{timer_ns};
    if (result.sync.method == "window") {
        floor.common_error_ns = static_cast<double>(result.sync.clock_error_ns);
    }
    return measure::is_below_floor(result.time.median * static_cast<double>(result.iterations_per_sample), floor);
}

}  // namespace

void check_methods(std::span<RequestedBackend const> backends, Options const& options) {
    std::vector<std::string> known{"default", "all"};
    for (RequestedBackend const& requested : backends) {
        if (requested.backend != nullptr) {
            for (MethodInfo const& info : requested.backend->methods()) {
                known.emplace_back(info.name);
            }
        }
    }
    bool const any_usable = known.size() > 2;
    for (MethodChoice const& method : options.methods) {
        if (any_usable && std::find(known.begin(), known.end(), method.name) == known.end()) {
            throw UsageError(fmt::format("--method: {}", unknown_name("method", method.name, known)));
        }
    }
}

void report_skipped(LaunchContext& launch, Variant const& variant, Entry const& entry, std::string const& reason) {
    record::Cell cell = entry.cell;
    cell.result.status = measure::Status::skipped;
    cell.result.reason = reason;
    launch.reporter.cell(cell, variant.title);
}

std::uint32_t draws_of(Pattern const& pattern, Options const& options) {
    return pattern.draws_differ() ? options.draws : 1;
}

std::vector<Entry> open_entries(LaunchContext& launch, Variant const& variant, Pattern const& pattern,
                                MemoryKind memory) {
    std::vector<OperationUse> const uses = pattern.operations();
    CellPlace const place{launch, variant, memory, draws_of(pattern, launch.options)};
    std::vector<Entry> entries;
    for (RequestedBackend const& requested : launch.backends) {
        if (requested.backend == nullptr) {
            report_skipped(launch, variant, make_entry(place, requested.name, {}), requested.why_not);
            continue;
        }
        std::vector<MethodChoice> const methods = methods_of(*requested.backend, memory, uses, launch.options);
        if (methods.empty()) {
            report_skipped(launch, variant, make_entry(place, requested.name, {}),
                           fmt::format("{} has none of the requested methods for these operations", requested.name));
        }
        for (MethodChoice const& method : methods) {
            Entry entry = make_entry(place, requested.name, method);
            entry.backend = requested.backend.get();
            MethodInfo const* const standard = default_method(requested.backend->methods_on(memory), uses.front());
            entry.cell.is_default = standard != nullptr && method == MethodChoice{std::string(standard->name), {}};
            entry.cell.backend_facts = requested.backend->provenance();
            auto const host_driven = entry.cell.backend_facts.find("host_driven");
            entry.cell.host_driven = host_driven == entry.cell.backend_facts.end() || host_driven->second != "no";
            auto const shared_gpu = entry.cell.backend_facts.find("shared_gpu");
            entry.cell.shared_gpu = shared_gpu != entry.cell.backend_facts.end() && shared_gpu->second == "yes";
            if (!requested.backend->supports(memory)) {
                std::string const why = requested.backend->why_no(memory);
                report_skipped(launch, variant, entry,
                               fmt::format("{} cannot use {} memory here{}{}", requested.name, name_of(memory),
                                           why.empty() ? "" : ": ", why));
            } else if (launch.finished_cells.count(entry.cell.cell_id) > 0) {
                launch.reporter.resumed();
            } else {
                entries.push_back(std::move(entry));
            }
        }
    }
    return entries;
}

void compete(LaunchContext& launch, Variant const& variant, measure::Contest const& contest,
             std::vector<Entry> const& entries) {
    std::vector<measure::Candidate> candidates;
    std::vector<Entry const*> running;
    for (Entry const& entry : entries) {
        std::string const name = candidate_name(variant, entry);
        launch.reporter.expect(name, entry.cell);
        std::string why_not;
        measure::Candidate candidate = compile(launch, contest, entry, name, why_not);
        if (why_not.empty()) {
            candidates.push_back(std::move(candidate));
            running.push_back(&entry);
        } else {
            report_skipped(launch, variant, entry, why_not);
        }
    }
    if (candidates.empty()) {
        return;
    }
    std::size_t left = candidates.size();
    launch.reporter.doing(fmt::format("measuring {} cells in turns", left));
    auto const finished = [&](std::size_t index, measure::CellResult const& result) {
        record::Cell cell = running[index]->cell;
        cell.result = result;
        if (auto const& calibration = launch.reporter.launch().calibration; calibration && !result.samples_ns.empty()) {
            cell.result.below_floor = is_below_floor(result, calibration->timer.cost_ns);
        }
        cell.backend_facts = running[index]->backend->provenance();
        cell.backend_facts.merge(candidates[index].positions.front()->provenance());
        add_overlap(cell);
        launch.reporter.cell(cell, variant.title);
        launch.reporter.doing(fmt::format("measuring {} more cells in turns", --left));
    };
    measure::run_contest(contest, candidates, launch.options.runner, launch.watchdog, finished);
}

}  // namespace dlmb::app

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/candidates.hpp"

#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

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
    record::Record cell = entry.cell;
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

}  // namespace dlmb::app

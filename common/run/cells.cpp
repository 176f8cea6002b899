// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/cells.hpp"

#include "common/backend_kit/backend_pair.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/transform/overlay.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/run/chooser/table_chooser.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dlmb::run {
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

constexpr std::string_view nonblocking_method = "nonblocking";

/// Whether some points of the sweep compute. The others then make the same calls, so that they can be compared.
bool computes_beside(PatternType const& type, Options const& options) {
    auto const found = options.parameters.find(type.computes_beside);
    return found != options.parameters.end() && std::any_of(found->second.begin(), found->second.end(),
                                                            [](std::string const& value) { return value != "none"; });
}

/// Whether the point, or with --beside-backend some point of the launch, runs at the same time as something else. The
/// others then make the same calls.
bool overlaps(CellSource const& source, Pattern const& pattern) {
    return computes_beside(source.type, source.options) || !source.options.beside_backend.empty() ||
           pattern.runs_beside();
}

/// The methods behind --method default; the first is the default of the backend.
std::vector<MethodInfo> standard_methods(Backend const& backend, MemoryKind memory, OperationUse const& use,
                                         bool overlapping) {
    std::span<MethodInfo const> const methods = backend.methods_on(memory);
    auto const found = std::find_if(methods.begin(), methods.end(), [&](MethodInfo const& method) {
        return method.name == nonblocking_method && method.operations.has(use.kind);
    });
    return overlapping && found != methods.end() ? std::vector{*found} : backend.defaults(memory, use);
}

/// The requested methods that this backend has and that make a difference to this traffic, "default" resolved to the
/// name it stands for.
std::vector<MethodChoice> methods_of(Backend const& backend, MemoryKind memory, std::span<OperationUse const> uses,
                                     std::vector<MethodChoice> const& asked_for, bool all, bool overlapping) {
    std::vector<MethodInfo> const useful = methods_for(backend.methods_on(memory), uses);
    std::vector<MethodChoice> chosen;
    auto const add = [&](MethodChoice const& method) {
        if (std::find(chosen.begin(), chosen.end(), method) == chosen.end()) {
            chosen.push_back(method);
        }
    };
    for (MethodChoice const& method : asked_for) {
        if (method.name == "default") {
            for (MethodInfo const& standard : standard_methods(backend, memory, uses.front(), overlapping)) {
                add({std::string(standard.name), method.knobs});
            }
        } else if (changes_something(backend, method.name, uses)) {
            add(method);
        }
    }
    if (all) {
        for (MethodInfo const& info : useful) {
            add({std::string(info.name), {}});
        }
        for (MethodChoice const& variant : backend.variants(memory, uses)) {
            add(variant);
        }
    }
    return chosen;
}

/// The methods that were asked for by name, that this backend knows, and that make no difference to this traffic.
std::vector<MethodChoice> idle_methods(Backend const& backend, std::span<OperationUse const> uses,
                                       std::vector<MethodChoice> const& asked_for) {
    auto const known = backend.methods();
    std::vector<MethodChoice> idle;
    std::copy_if(asked_for.begin(), asked_for.end(), std::back_inserter(idle), [&](MethodChoice const& method) {
        bool const has =
            std::any_of(known.begin(), known.end(), [&](MethodInfo const& info) { return info.name == method.name; });
        return has && !changes_something(backend, method.name, uses);
    });
    return idle;
}

measure::Cell make_cell(CellSource const& source, SweepPoint const& point, std::uint32_t draws,
                        std::string_view backend, MethodChoice const& method, std::string const& beside) {
    measure::Cell cell;
    cell.method = method;
    record::CellIdentity& identity = cell.identity;
    identity.pattern = source.type.name;
    identity.preset = point.preset;
    identity.parameters = {point.parameters.begin(), point.parameters.end()};
    identity.backend = backend;
    identity.method = to_string(method);
    identity.memory = name_of(point.memory);
    identity.mode = name_of(source.options.runner.mode);
    identity.world = source.world;
    identity.seed = source.options.seed;
    identity.draws = draws;
    identity.cache = source.options.runner.cache;
    identity.fill = source.options.runner.fill;
    identity.beside = beside;
    cell.id = record::cell_id(identity, {point.preset_values.begin(), point.preset_values.end()});
    cell.name = fmt::format("{} {}", point.title, record::way_text(identity));
    return cell;
}

bool says(Provenance const& facts, std::string const& name, std::string_view value) {
    auto const found = facts.find(name);
    return found != facts.end() && found->second == value;
}

std::unique_ptr<Chooser> read_chooser(std::filesystem::path const& path, record::Environment const& environment) {
    tuning::TuningTable table = tuning::read_table(path);
    if (std::string const remark = weak_evidence_remark(table); !remark.empty()) {
        throw UsageError(fmt::format("--use-table {}: {}; build a table from launches here (docs/tuning.md)",
                                     path.string(), remark));
    }
    auto const identity = tuning::system_identity(environment.identity);
    if (std::string const key = tuning::system_key(identity); table.system.key != key) {
        std::string const what = tuning::system_differences(identity, table.system.identity);
        throw UsageError(fmt::format(
            "--use-table {}: its system.key is {}, that of this launch is {}{}; a table holds for one machine and "
            "software: launch as it was measured, or build one here (docs/tuning.md)",
            path.string(), table.system.key, key, what.empty() ? "" : fmt::format(" ({})", what)));
    }
    return std::make_unique<tuning::TableChooser>(std::move(table));
}

}  // namespace

void require_usable(Bootstrap& bootstrap, std::string const& problem) {
    std::string const first = first_refusal(bootstrap, problem);
    if (!first.empty()) {
        throw UsageError(first);
    }
}

std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind, std::string& why_not) {
    std::unique_ptr<MemorySpace> space = make_memory(kind, why_not);
    if (any_rank(bootstrap, space == nullptr) && space != nullptr) {
        why_not = fmt::format("another rank has no {} memory", name_of(kind));
        return nullptr;
    }
    return space;
}

std::unique_ptr<Chooser> open_chooser(Bootstrap& bootstrap, Options const& options,
                                      record::Environment const& environment) {
    if (!options.use_table) {
        return nullptr;
    }
    std::unique_ptr<Chooser> chooser;
    std::string problem;
    try {
        chooser = read_chooser(*options.use_table, environment);
    } catch (UsageError const& error) {
        problem = error.what();
    }
    require_usable(bootstrap, problem);
    return chooser;
}

namespace {

OpenedBackend const* opened_beside(std::span<OpenedBackend const> backends, Options const& options) {
    auto const found = std::find_if(backends.begin(), backends.end(),
                                    [&](OpenedBackend const& each) { return each.name == options.beside_backend; });
    return found == backends.end() ? nullptr : &*found;
}

void pair_with_beside(Bootstrap& bootstrap, std::vector<OpenedBackend>& backends, Options const& options, Idle idle) {
    OpenedBackend const& beside = *opened_beside(backends, options);
    for (OpenedBackend& main : backends) {
        if (&main != &beside && main.backend != nullptr && beside.backend != nullptr) {
            main.with_beside = make_backend_pair(bootstrap, main.backend, beside.backend, options.beside_method,
                                                 std::string(beside_phase), idle);
        }
    }
}

/// The backends that run a point. Where steps run beside the others, each is paired with that of --beside-backend.
std::vector<OpenedBackend> runners_of(CellSource const& source, Pattern const& pattern) {
    OpenedBackend const* const beside =
        pattern.runs_beside() ? opened_beside(source.backends, source.options) : nullptr;
    std::vector<OpenedBackend> runners;
    for (OpenedBackend const& main : source.backends) {
        if (main.only_beside) {
            continue;
        }
        bool const own_method = source.options.beside_method != MethodChoice{};
        if (beside == nullptr || (&main == beside && !own_method)) {
            runners.push_back(main);
        } else if (&main == beside) {
            runners.push_back({main.name, nullptr,
                               fmt::format("{} runs both by --method; give --beside-backend {} without a method",
                                           main.name, main.name)});
        } else if (main.with_beside != nullptr) {
            runners.push_back({std::string(main.with_beside->name()), main.with_beside, ""});
        } else {
            OpenedBackend const& lacking = main.backend == nullptr ? main : *beside;
            runners.push_back({pair_name(main.name, beside->name, source.options.beside_method), nullptr,
                               fmt::format("{}: {}", lacking.name, lacking.why_not)});
        }
    }
    return runners;
}

}  // namespace

std::vector<OpenedBackend> open_backends(Bootstrap& bootstrap, Options const& options, Chooser const* chooser) {
    BackendContext context{bootstrap, YieldPolicy::automatic};
    context.options = options.backend_options;
    // A backend that can end an iteration comes before the watchdog: it says more and leaves the device usable.
    context.timeout_ns = options.runner.timeout_ns / 10 * 9;
    std::vector<std::string> names = options.backends;
    if (names.empty()) {
        for (BackendEntry const& entry : backend_entries()) {
            names.emplace_back(entry.name);
        }
    }
    BackendPool pool(context, chooser);
    std::vector<OpenedBackend> opened;
    auto const is_open = [&](std::string const& name) {
        return std::any_of(opened.begin(), opened.end(), [&](OpenedBackend const& each) { return each.name == name; });
    };
    auto const open = [&](std::string const& name, bool only_beside) {
        auto const made = is_open(name) ? Unsupported{"named twice"} : pool.backend(name);
        if (made) {
            opened.push_back({name, made.value(), "", only_beside});
        } else if (!is_open(name) && (only_beside || !options.backends.empty())) {
            opened.push_back({name, nullptr, made.error().reason, only_beside});
        }
    };
    for (std::string const& name : names) {
        open(name, false);
    }
    if (!options.beside_backend.empty()) {
        open(options.beside_backend, true);
        pair_with_beside(bootstrap, opened, options, Idle(should_yield(context.yield, bootstrap)));
    }
    return opened;
}

void note_device_path(Bootstrap const& bootstrap, std::span<OpenedBackend const> backends, Options const& options) {
    bool const on_device = std::any_of(options.memory.begin(), options.memory.end(), [](MemoryKind kind) {
        return kind == MemoryKind::cuda || kind == MemoryKind::nccl;
    });
    if (bootstrap.rank() != 0 || !on_device) {
        return;
    }
    for (OpenedBackend const& opened : backends) {
        Provenance const facts = opened.backend == nullptr ? Provenance{} : opened.backend->provenance();
        auto const path = facts.find("mpi_gpu_path");
        if (path != facts.end() && path->second != "host") {
            print_error(fmt::format("{}: path of device memory: {} ({})\n", opened.name, path->second,
                                    facts.at("mpi_gpu_reason")));
        }
    }
}

void check_methods(std::span<OpenedBackend const> backends, Options const& options) {
    std::vector<std::string> known{"default", "all"};
    for (OpenedBackend const& opened : backends) {
        if (opened.backend != nullptr) {
            for (MethodInfo const& info : opened.backend->methods()) {
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

std::uint32_t draws_of(Pattern const& pattern, Options const& options) {
    return pattern.draws_differ() ? std::min(options.draws, pattern.most_draws()) : 1;
}

std::string why_no_method(Backend const& backend, std::string_view name, MemoryKind memory, OperationUse const& use) {
    std::string_view const operation = name_of(use.kind);
    if (default_method(backend.methods(), use) == nullptr) {
        return fmt::format("{} has no {}; another --backend has", name, operation);
    }
    if (default_method(backend.methods_on(memory), use) == nullptr) {
        return fmt::format("{} has no {} in {} memory; another --memory has", name, operation, name_of(memory));
    }
    return fmt::format("{} has none of the requested methods for these operations", name);
}

std::vector<measure::Cell> cells_of(CellSource const& source, SweepPoint const& point, Pattern const& pattern,
                                    std::function<void(measure::Cell const&, std::string const& reason)> const& skip) {
    std::vector<OperationUse> const uses = pattern.operations();
    std::uint32_t const draws = draws_of(pattern, source.options);
    std::vector<measure::Cell> cells;
    std::vector<MethodChoice> const& asked = source.options.methods;
    bool const overlapping = overlaps(source, pattern);
    auto const skip_all = [&](std::string_view backend, MethodChoice const& method, std::string const& reason) {
        for (std::string const& load : source.options.loads) {
            skip(make_cell(source, point, draws, backend, method, load), reason);
        }
    };
    for (OpenedBackend const& opened : runners_of(source, pattern)) {
        if (opened.backend == nullptr) {
            skip_all(opened.name, {}, opened.why_not);
            continue;
        }
        Backend& backend = *opened.backend;
        std::vector<MethodChoice> const methods =
            methods_of(backend, point.memory, uses, asked, source.options.all_methods, overlapping);
        std::vector<MethodChoice> const idle = idle_methods(backend, uses, asked);
        for (MethodChoice const& method : idle) {
            skip_all(opened.name, method,
                     fmt::format("{}: {} does nothing differently for {}; --method all takes those that do",
                                 opened.name, method.name, name_of(uses.front().kind)));
        }
        if (methods.empty() && idle.empty()) {
            skip_all(opened.name, {}, why_no_method(backend, opened.name, point.memory, uses.front()));
        }
        std::vector<MethodInfo> const standard = standard_methods(backend, point.memory, uses.front(), overlapping);
        for (MethodChoice const& method : methods) {
            for (std::string const& load : source.options.loads) {
                measure::Cell cell = make_cell(source, point, draws, opened.name, method, load);
                cell.backend = &backend;
                cell.is_default = !standard.empty() && method == MethodChoice{std::string(standard.front().name), {}};
                cell.is_named = std::find(asked.begin(), asked.end(), method) != asked.end();
                if (!backend.supports(point.memory)) {
                    std::string const why = backend.why_no(point.memory);
                    skip(cell, fmt::format("{} cannot use {} memory here{}{}", opened.name, name_of(point.memory),
                                           why.empty() ? "" : ": ", why));
                } else {
                    cells.push_back(std::move(cell));
                }
            }
        }
    }
    return cells;
}

namespace {

/// The stability that the method of a compiled cell promises for the operations of its plans.
std::string stability_of(measure::Cell const& cell) {
    std::vector<OperationKind> kinds;
    for (std::size_t i = 0; !cell.positions.empty() && i < cell.point->plans().size(); ++i) {
        for (Step const& step : cell.point->plans()[i].steps) {
            kinds.push_back(kind_of(step.operation));
        }
    }
    return dlmb::stability_of(cell.backend->methods(), cell.method.name, kinds);
}

}  // namespace

record::Record record_of(measure::Cell const& cell) {
    record::Record record;
    record.identity = cell.identity;
    record.cell_id = cell.id;
    record.is_default = cell.is_default;
    record.cache.mode = cell.identity.cache;
    if (cell.backend != nullptr) {
        Provenance const facts = cell.backend->provenance();
        record.host_driven = !says(facts, "host_driven", "no");
        record.shared_gpu = says(facts, "shared_gpu", "yes");
        if (!cell.positions.empty()) {
            record.backend_facts = cell.positions.front()->provenance();  // before what its backend says
        }
        record.backend_facts.insert(facts.begin(), facts.end());
        if (std::string const stable = stability_of(cell); !stable.empty()) {
            record.backend_facts["bitwise_stable_over"] = stable;
        }
    }
    return record;
}

}  // namespace dlmb::run

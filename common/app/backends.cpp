// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/backends.hpp"

#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/tuning/chooser/table_chooser.hpp"
#include "common/tuning/provenance.hpp"
#include "common/tuning/table_file.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app {

std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind, std::string& why_not) {
    std::unique_ptr<MemorySpace> space = make_memory(kind, why_not);
    std::vector<std::int64_t> have{space == nullptr ? 0 : 1};
    bootstrap.all_reduce(have, Fold::min);
    if (have[0] == 0 && space != nullptr) {
        why_not = fmt::format("another rank has no {} memory", name_of(kind));
    }
    return have[0] == 0 ? nullptr : std::move(space);
}

namespace {

std::unique_ptr<Chooser> read_chooser(std::filesystem::path const& path, record::Environment const& environment) {
    tuning::TuningTable table = tuning::read_table(path);
    std::string const key = tuning::system_key(environment.identity);
    if (table.system.key != key) {
        throw UsageError(
            fmt::format("--use-table {}: its system.key is {}, that of this launch is {}; a table holds for "
                        "one machine and software: build one here (docs/tuning.md)",
                        path.string(), table.system.key, key));
    }
    return std::make_unique<tuning::TableChooser>(std::move(table));
}

}  // namespace

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
    problem = first_refusal(bootstrap, problem);
    if (!problem.empty()) {
        throw UsageError(problem);
    }
    return chooser;
}

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
    for (std::string const& name : names) {
        auto const made = pool.backend(name);
        if (made) {
            opened.push_back({name, made.value(), ""});
        } else if (!options.backends.empty()) {
            opened.push_back({name, nullptr, made.error().reason});
        }
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
            fmt::print(stderr, "{}: path of device memory: {} ({})\n", opened.name, path->second,
                       facts.at("mpi_gpu_reason"));
        }
    }
}

}  // namespace dlmb::app

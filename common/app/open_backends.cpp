// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/open_backends.hpp"

#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/tuning/chooser/table_chooser.hpp"
#include "common/tuning/provenance.hpp"
#include "common/tuning/read_table.hpp"

#include <fmt/core.h>

namespace dlmb::app {
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

std::vector<RequestedBackend> open_backends(Bootstrap& bootstrap, Options const& options, Chooser const* chooser) {
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
    std::vector<RequestedBackend> requested;
    for (std::string const& name : names) {
        auto const made = pool.backend(name);
        if (made) {
            requested.push_back({name, made.value(), ""});
        } else if (!options.backends.empty()) {
            requested.push_back({name, nullptr, made.error().reason});
        }
    }
    return requested;
}

}  // namespace dlmb::app

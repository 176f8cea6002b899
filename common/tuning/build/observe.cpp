// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/observe.hpp"

#include "common/base/error.hpp"
#include "common/tuning/build/cell_observation.hpp"
#include "common/tuning/build/software.hpp"
#include "common/tuning/mpi_library.hpp"
#include "common/tuning/provenance/system_key.hpp"
#include "common/tuning/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlmb::tuning {
namespace {

constexpr std::size_t rounds_least = 6;

std::uint64_t processing_units(record::Launch const& launch) {
    auto const found = launch.environment.identity.find("processing_units");
    return found == launch.environment.identity.end() ? 0 : whole_number(found->second, "processing_units");
}

/// Whether the cell is MPI's alltoall of equal blocks, which method mpi_alltoall does by MPI_Alltoall.
bool has_equal_blocks(record::Record const& cell) {
    auto const operation = cell.identity.parameters.find("operation");
    return cell.identity.backend == "mpi" && operation != cell.identity.parameters.end() &&
           operation->second == "alltoall";
}

}  // namespace

bool Observations::is_default(record::Record const& cell) const {
    bool const for_files = !accepted_.methods.empty();
    return for_files && has_equal_blocks(cell) ? cell.identity.method == mpi_alltoall : cell.is_default;
}

bool Observations::competes(record::Record const& cell) const {
    auto const& methods = accepted_.methods;
    return is_default(cell) || methods.empty() ||
           std::find(methods.begin(), methods.end(), parse_method(cell.identity.method).name) != methods.end();
}

std::string Observations::why_not(record::Record const& cell, record::Launch const& launch) const {
    if (cell.identity.pattern != "collective") {
        return "is not of dlmb_collective, whose cells are one operation each";
    }
    if (cell.identity.backend == "tuned") {
        return "is of backend tuned, which hands on to the others";
    }
    if (cell.identity.world.ranks_per_node < 1) {
        return "ran on nodes with unequal numbers of ranks";
    }
    if (cell.identity.mode != accepted_.timing) {
        return fmt::format("is not of --timing {}", accepted_.timing);
    }
    if (!competes(cell)) {
        return "is of a method that --methods leaves out";
    }
    if (cell.result.status != measure::Status::ok) {
        return fmt::format("has status {}", measure::name_of(cell.result.status));
    }
    if (cell.result.validation.verdict != measure::Verdict::passed) {
        return "was not validated";
    }
    if (cell.result.throttled.value_or(false)) {
        return "was measured while the clocks of a GPU were held down";
    }
    if (cell.result.below_floor.value_or(false)) {
        return "is shorter than this launch's clock can tell";
    }
    if (cell.identity.fill != measure::Fill::random) {
        return "moved zeros";
    }
    if (cell.shared_gpu || record::on_test_double(launch.environment)) {
        return "ran on a shared GPU or on a test double";
    }
    std::uint64_t const units = processing_units(launch);
    if (!accepted_.oversubscribed && units > 0 && static_cast<std::uint64_t>(launch.world.ranks_per_node) > units) {
        return "had more ranks than processing units (--accept oversubscribed)";
    }
    if (!accepted_.quick && cell.result.round_medians_ns.size() < rounds_least) {
        return "has fewer than six rounds (--accept quick)";
    }
    return {};
}

void Observations::add_system(record::Launch const& launch, std::string const& name) {
    std::string const key = system_key(launch.environment.identity);
    if (system_.key.empty()) {
        auto const& identity = launch.environment.identity;
        auto const cpu = identity.find("cpu_model");
        auto const mpi = identity.find("mpi_library");
        system_.key = key;
        system_.cpu = cpu == identity.end() ? "" : cpu->second;
        if (mpi != identity.end() && !mpi->second.empty()) {
            stack_.mpi = mpi_library(mpi->second);
        }
        stack_.environment = launch.environment.variables;
    }
    if (key != system_.key) {
        throw UsageError(
            fmt::format("{}: launch {} ran on another system ({} instead of {}); one table is for one system", name,
                        launch.launch_id, key, system_.key));
    }
}

void Observations::add_versions(record::Record const& cell, std::string const& name) {
    Versions versions = library_versions(cell);
    if (std::string const other = other_version(versions, stack_.versions); !other.empty()) {
        throw UsageError(
            fmt::format("{}: cell {} ran with {}; build a table from one version", name, cell.cell_id, other));
    }
    stack_.versions.merge(versions);
}

void Observations::require_one_cache_mode(record::Record const& cell, std::string const& name) {
    cache_ = cache_.value_or(cell.identity.cache);
    if (*cache_ != cell.identity.cache) {
        throw UsageError(
            fmt::format("{}: cell {} is of another --cache than those before ({} instead of {}); build from one", name,
                        cell.cell_id, measure::name_of(cell.identity.cache), measure::name_of(*cache_)));
    }
}

void Observations::add(record::ResultFile const& file, std::string const& name) {
    std::map<std::string, record::Launch const*> launches;
    for (record::Launch const& launch : file.launches) {
        add_system(launch, name);
        launches[launch.launch_id] = &launch;
    }
    for (record::StoredCell const& stored : file.cells) {
        ++cells_;
        std::string const reason = why_not(stored.cell, *launches.at(stored.launch_id));
        if (!reason.empty()) {
            ++refused_[reason];
            continue;
        }
        Observation seen = observation_from(stored.cell, stored.launch_id);
        seen.is_default = is_default(stored.cell);
        if (!accepted_.methods.empty() && !seen.is_default && !seen.choice.algorithm &&
            parse_method(seen.choice.method).name == algorithm_method) {
            ++refused_["names an algorithm of another call than the operation's, which no file can say"];
            continue;
        }
        require_one_cache_mode(stored.cell, name);
        add_versions(stored.cell, name);
        kept_.push_back(std::move(seen));
    }
}

}  // namespace dlmb::tuning

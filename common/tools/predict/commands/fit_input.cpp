// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/fit_input.hpp"

#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace dlmb::predict::commands {
namespace {

std::string parameter_of(record::Record const& cell, char const* name) {
    auto const found = cell.identity.parameters.find(name);
    return found == cell.identity.parameters.end() ? std::string{} : found->second;
}

/// The algorithm as tables name it; empty: the cell does not tell.
std::string algorithm_in(record::Record const& cell, record::Launch const& launch, Collective collective) {
    if (collective == Collective::sendrecv) {
        return parameter_of(cell, "route") == "ring" ? "ring" : "";
    }
    std::string_view const method = cell.identity.method;
    auto const equals = method.find('=');
    if (cell.identity.backend != "mpi" || !method.starts_with("algorithm:") || equals == std::string_view::npos) {
        return {};
    }
    std::string_view const name = method.substr(equals + 1);
    auto const library = launch.environment.identity.find("mpi_library");
    if (name.find_first_of(":,=") != std::string_view::npos || library == launch.environment.identity.end()) {
        return {};  // segments are not modelled
    }
    bool const open_mpi = library->second.find("Open MPI") != std::string::npos;
    return fmt::format("{}_{}", name, open_mpi ? "ompi" : "mpich");
}

std::optional<Measurement> measurement_of(record::Record const& cell, record::Launch const& launch,
                                          std::string const& system) {
    auto const& world = cell.identity.world;
    auto const& flags = cell.result.flags;
    auto const& environment = launch.environment.identity;
    auto const units = environment.find("processing_units");
    auto const processors = units == environment.end() ? std::nullopt : parse_whole<int>(units->second);
    if (std::find(flags.begin(), flags.end(), record::assumed_nodes_flag) != flags.end() ||
        (processors && *processors > 0 && world.ranks_per_node > *processors)) {  // ranks took turns
        return std::nullopt;
    }
    auto const collective = collective_of(parameter_of(cell, "operation"));
    auto const message = parse_whole<Bytes>(parameter_of(cell, "message-size"));
    if (cell.identity.pattern != "collective" || cell.result.status != record::Status::ok || cell.origin ||
        cell.result.time.median <= 0 || cell.identity.memory != "host" || !collective || !message ||
        parameter_of(cell, "in-place") == "on" || parameter_of(cell, "compute") != "none" || world.ranks_per_node < 1 ||
        world.ranks % world.ranks_per_node != 0) {
        return std::nullopt;
    }
    Measurement measurement{system, {}, *collective, algorithm_in(cell, launch, *collective)};
    if (measurement.algorithm.empty() || !algorithm_of(*collective, measurement.algorithm)) {
        return std::nullopt;
    }
    measurement.topology.shape = {world.ranks / world.ranks_per_node};
    measurement.topology.ranks_per_node = world.ranks_per_node;
    // --message-size counts as patterns/collective/README.md says.
    bool const per_rank = *collective == Collective::allgather || *collective == Collective::gather ||
                          *collective == Collective::scatter || *collective == Collective::alltoall;
    measurement.bytes = static_cast<double>(*message) * (per_rank ? world.ranks : 1);
    measurement.time_us = cell.result.time.median / nanoseconds_per_microsecond;
    measurement.job = launch.launch_id;
    return measurement;
}

void add_results(std::string const& path, std::string const& system, int max_nodes, FitInput& input) {
    int left_out = 0;
    record::ResultFile const file = record::read_results(path);
    std::map<std::string, record::Launch const*> launches;
    for (record::Launch const& launch : file.launches) {
        launches[launch.launch_id] = &launch;
    }
    for (auto const& [launch_id, cell] : file.cells) {
        auto const launch = launches.find(launch_id);
        auto measurement = launch == launches.end() ? std::nullopt : measurement_of(cell, *launch->second, system);
        auto const& world = cell.identity.world;
        bool const asked = max_nodes == 0 || world.ranks <= max_nodes * std::max(world.ranks_per_node, 1);
        if (asked && !measurement) {
            ++left_out;
        } else if (asked) {
            input.measurements.push_back(std::move(*measurement));
        }
    }
    if (left_out > 0) {
        input.left_out_text = fmt::format(
            "{} cells were left out, whose messages are not known or which were not measured well\n", left_out);
    }
}

void add_table(std::string const& path, std::string const& system, int max_nodes, FitInput& input) {
    std::set<std::string> systems;
    int unusable = 0;
    for (TableLine& line : read_measurements(input.text, path, true).lines) {
        systems.insert(line.measurement.system);
        if (line.measurement.system == system && (max_nodes == 0 || line.measurement.topology.nodes() <= max_nodes)) {
            if (line.unusable.empty()) {
                input.measurements.push_back(std::move(line.measurement));
            } else {
                ++unusable;
            }
        }
    }
    if (unusable > 0) {
        input.left_out_text = fmt::format(
            "{} lines were left out, whose messages are not known or whose buffers are on GPUs\n", unusable);
    }
    if (!systems.contains(system)) {
        std::vector<std::string> const known(systems.begin(), systems.end());
        throw UsageError(unknown_name("system", system, known));
    }
}

}  // namespace

FitInput read_fit_input(std::string const& path, std::string const& system, int max_nodes) {
    FitInput input;
    input.text = read_document(path);
    if (input.text.starts_with('{')) {
        add_results(path, system, max_nodes, input);
    } else {
        add_table(path, system, max_nodes, input);
    }
    return input;
}

}  // namespace dlmb::predict::commands

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/fit_input.hpp"

#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/lines_to_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace dlmb::predict::commands {
namespace {

using dlmb::predict::Collective;
using dlmb::predict::Measurement;

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
    if (std::find(flags.begin(), flags.end(), record::assumed_nodes_flag) != flags.end()) {
        return std::nullopt;
    }
    auto const collective = dlmb::predict::collective_of(parameter_of(cell, "operation"));
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
    auto const processors = launch.environment.identity.find("processing_units");
    if (processors != launch.environment.identity.end()) {
        measurement.processors = parse_whole<int>(processors->second).value_or(0);
    }
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
    std::vector<dlmb::predict::TableLine> lines;
    int unusable = 0;
    for (auto& line : dlmb::predict::read_measurements(input.text, path, true).lines) {
        systems.insert(line.measurement.system);
        if (line.measurement.system == system && (max_nodes == 0 || line.measurement.topology.nodes() <= max_nodes)) {
            unusable += line.unusable.empty() ? 0 : 1;
            lines.push_back(std::move(line));
        }
    }
    dlmb::predict::LinesToFit found = dlmb::predict::lines_to_fit(lines);
    input.measurements = std::move(found.measurements);
    if (unusable > 0) {
        input.left_out_text = fmt::format(
            "{} lines were left out, whose messages are not known or whose buffers are on GPUs\n", unusable);
    }
    if (!found.left_out.empty()) {
        input.left_out_text += describe(found.left_out) + "\n";
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

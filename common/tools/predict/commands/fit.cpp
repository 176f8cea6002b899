// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict fit MEASUREMENTS --system SYSTEM -o MODEL: a machine model from measured collectives, of a table with
// the columns of the data of PICO or of a result file of dlmb_collective.
#include "common/tools/predict/fit.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace dlmb::predict::commands {
namespace {

struct FitInput {
    std::vector<Measurement> measurements;  // of one system, of algorithms whose messages are known
    std::string text;                       // the file as it was read
    int left_out = 0;                       // lines or cells that cannot be fitted
};

/// Empty: it is not told.
std::string text_of(std::map<std::string, std::string> const& texts, char const* name) {
    auto const found = texts.find(name);
    return found == texts.end() ? std::string{} : found->second;
}

/// The algorithm as tables name it; empty: the cell does not tell.
std::string algorithm_in(record::Record const& cell, record::Launch const& launch, OperationKind collective) {
    std::string_view const method = cell.identity.method;
    auto const equals = method.find('=');
    if (cell.identity.backend == "mpi" && collective == OperationKind::send) {
        return method == "blocking" && text_of(cell.identity.parameters, "route") == "ring" ? "ring" : "";
    }
    if (cell.identity.backend != "mpi" || !method.starts_with("algorithm:") || equals == std::string_view::npos) {
        return {};
    }
    std::string_view const name = method.substr(equals + 1);
    std::string const library = text_of(launch.environment.identity, "mpi_library");
    if (name.find_first_of(":,=") != std::string_view::npos || library.empty()) {
        return {};  // segments are not modelled
    }
    bool const open_mpi = library.find("Open MPI") != std::string::npos;
    return fmt::format("{}_{}", name, open_mpi ? "ompi" : "mpich");
}

std::optional<Measurement> measurement_of(record::Record const& cell, record::Launch const& launch,
                                          std::string const& system) {
    auto const& world = cell.identity.world;
    auto const& flags = cell.result.flags;
    auto const& parameters = cell.identity.parameters;
    auto const processors = parse_whole<int>(text_of(launch.environment.identity, "processing_units"));
    if (std::find(flags.begin(), flags.end(), record::assumed_nodes_flag) != flags.end() ||
        (processors && *processors > 0 && world.ranks_per_node > *processors)) {  // ranks took turns
        return std::nullopt;
    }
    auto const collective = collective_named(text_of(parameters, "operation"));
    auto const message = parse_whole<Bytes>(text_of(parameters, "message-size"));
    std::string const skew = text_of(parameters, "skew");  // of the named parts of a reduce_scatter
    if (cell.identity.pattern != "collective" || cell.result.status != record::Status::ok || cell.origin ||
        cell.result.time.median <= 0 || cell.identity.memory != "host" || !cell.identity.beside.empty() ||
        !collective || !message || text_of(parameters, "in-place") == "on" || (!skew.empty() && skew != "balanced") ||
        text_of(parameters, "compute") != "none" || world.ranks_per_node < 1 ||
        world.ranks % world.ranks_per_node != 0) {
        return std::nullopt;
    }
    Measurement measurement{system, {}, *collective, algorithm_in(cell, launch, *collective)};
    if (measurement.algorithm.empty() || !algorithm_of(*collective, measurement.algorithm)) {
        return std::nullopt;
    }
    measurement.topology.shape = {world.ranks / world.ranks_per_node};
    measurement.topology.ranks_per_node = world.ranks_per_node;
    measurement.bytes = static_cast<double>(*message) * (size_is_of_a_part(*collective) ? world.ranks : 1);
    measurement.time_us = cell.result.time.median / nanoseconds_per_microsecond;
    measurement.job = launch.launch_id;
    return measurement;
}

/// Takes the cells whose messages are known: blocking sendrecv to the next rank, and collectives by an algorithm of the
/// library (--method algorithm:CALL=NAME, which becomes NAME_ompi or NAME_mpich). A launch is a job. `system` names the
/// machine. Throws UsageError where they are of several timings or uses of the caches.
void add_results(std::string const& path, std::string const& system, int max_nodes, FitInput& input) {
    std::istringstream text(input.text);  // a pipe cannot be read twice
    record::ResultFile const file = record::read_results(text, path);
    record::CellIdentity const* first = nullptr;
    std::map<std::string, record::Launch const*> launches;
    for (record::Launch const& launch : file.launches) {
        launches[launch.launch_id] = &launch;
    }
    for (auto const& [launch_id, cell] : file.cells) {
        auto measurement = measurement_of(cell, *launches.at(launch_id), system);
        auto const& world = cell.identity.world;
        bool const asked = max_nodes == 0 || world.ranks <= std::int64_t{max_nodes} * std::max(world.ranks_per_node, 1);
        if (asked && !measurement) {
            ++input.left_out;
        } else if (asked) {
            first = first != nullptr ? first : &cell.identity;
            if (cell.identity.mode != first->mode || cell.identity.cache != first->cache) {
                throw UsageError(fmt::format("{}: cell {} is of --timing {} --cache {}, those before are of {} {}; fit "
                                             "cells of one kind",
                                             path, cell.cell_id, cell.identity.mode, name_of(cell.identity.cache),
                                             first->mode, name_of(first->cache)));
            }
            input.measurements.push_back(std::move(*measurement));
        }
    }
}

/// Takes the lines of `system` whose algorithm is known. Throws UsageError where there is no such system.
void add_table(std::string const& path, std::string const& system, int max_nodes, FitInput& input) {
    std::set<std::string> systems;
    for (TableLine& line : read_measurements(input.text, path, true).lines) {
        systems.insert(line.measurement.system);
        if (line.measurement.system == system && (max_nodes == 0 || line.measurement.topology.nodes() <= max_nodes)) {
            if (line.unusable.empty()) {
                input.measurements.push_back(std::move(line.measurement));
            } else {
                ++input.left_out;
            }
        }
    }
    if (!systems.contains(system)) {
        std::vector<std::string> const known(systems.begin(), systems.end());
        throw UsageError(unknown_name("system", system, known));
    }
}

class Fit {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option("MEASUREMENTS", path_,
                        "result file of dlmb_collective, or table with the columns of the data of PICO")
            ->required();
        parser
            .add_option("--system", system_,
                        "the system to fit, as the table names it; of a result file: its name in the model")
            ->required();
        parser.add_option("--max-nodes", max_nodes_, "leave out measurements on more nodes than this")
            ->check(CLI::Range(1, 1 << 20));
        parser.add_option("-o,--output", output_, "where to write the model (JSON); - prints it")->required();
        parser.add_flag("--force", force_,
                        "let the model answer also where its held-out error is above 40 %; the model says so");
    }

    int run() {
        FitInput input;
        input.text = read_document(path_);
        (input.text.starts_with('{') ? add_results : add_table)(path_, system_, max_nodes_, input);
        LoadCache cache;
        MachineModel model = fit(input.measurements, cache);
        model.input_name = std::filesystem::path(path_).filename().string();
        model.input_sha256 = tuning::sha256(input.text);
        model.max_nodes = max_nodes_;
        model.forced = force_;
        write_output(output_, to_text(model));
        if (!is_standard_output(output_)) {
            print(model);
        }
        std::string left_out;
        if (input.left_out > 0) {
            left_out =
                fmt::format("\n{} lines were left out, whose messages are not known, whose buffers are on GPUs or "
                            "which were not measured well\n",
                            input.left_out);
        }
        for (auto const& [key, count] : model.left_out) {
            left_out += fmt::format("\n{} lines were left out, which are too fast for their algorithm: {} {}\n", count,
                                    name_in_tables(key.first), key.second);
        }
        print_to(printed_beside({output_}), left_out);
        return exit_ok;
    }

private:
    static void print(MachineModel const& model) {
        fmt::print("{} measurements of {} on {} to {} nodes\n\n", model.points, model.system, model.fewest_nodes,
                   model.most_nodes);
        for (std::size_t index = 0; index < parameter_count; ++index) {
            auto const [low, high] = range_of(model, index);
            fmt::print("{:<16} {:>10.4g}  [{:.4g}, {:.4g}]\n", parameter_names[index],
                       std::exp(model.best.parameters[index]), low, high);
        }
        if (model.held_out_above == 0) {
            fmt::print(
                "\nHeld-out error: unknown; it needs 10 measurements or more on a node count, and on fewer nodes\n");
            return;
        }
        fmt::print("\nError on more than {} nodes, fitted on the others:\n", model.held_out_above);
        for (auto const& [collective, error] : model.held_out) {
            fmt::print("{:<16} median {:>4.0f} %   90 % below {:>4.0f} %   {} points\n", name_in_tables(collective),
                       100 * error.median, 100 * error.p90, error.points);
        }
    }

    std::string path_;
    std::string system_;
    std::string output_;
    int max_nodes_ = 0;
    bool force_ = false;
};

}  // namespace

void add_fit(CLI::App& program, int& exit_code) {
    add_command<Fit>(program, "fit", "Fit a machine model to measured collectives", exit_code);
}

}  // namespace dlmb::predict::commands

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict fit MEASUREMENTS --system SYSTEM -o MODEL: a machine model from measured collectives.
#include "common/tools/predict/fit.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/output_file.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/tools/predict/commands/fit_input.hpp"
#include "common/tools/predict/commands/run_predict.hpp"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

namespace dlmb::predict::commands {
namespace {

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
        FitInput const input = read_fit_input(path_, system_, max_nodes_);
        LoadCache cache;
        MachineModel model = fit(input.measurements, {}, cache);
        model.input_name = std::filesystem::path(path_).filename().string();
        model.input_sha256 = tuning::sha256(input.text);
        model.max_nodes = max_nodes_;
        model.forced = force_;
        write_output(output_, to_text(model));
        if (!is_standard_output(output_)) {
            print(model);
        }
        if (!input.left_out_text.empty() || !model.left_out.empty()) {
            print_to(printed_beside({output_}),
                     fmt::format("\n{}{}", input.left_out_text, text_of_left_out(model.left_out)));
        }
        return exit_ok;
    }

private:
    static std::string text_of_left_out(LineCounts const& left_out) {
        int lines = 0;
        std::string names;
        for (auto const& [key, count] : left_out) {
            lines += count;
            names += fmt::format("{}{} {} ({})", names.empty() ? "" : ", ", name_of(key.first), key.second, count);
        }
        return lines == 0
                   ? names
                   : fmt::format("{} lines were left out, which are too fast for their algorithm: {}\n", lines, names);
    }

    static void print(MachineModel const& model) {
        fmt::print("{} measurements of {} on {} to {} nodes\n\n", model.points, model.system, model.fewest_nodes,
                   model.most_nodes);
        for (std::size_t index = 0; index < parameter_count; ++index) {
            std::vector<double> values;
            for (Coefficients const& replicate : model.replicates) {
                values.push_back(std::exp(replicate.parameters[index]));
            }
            fmt::print("{:<16} {:>10.4g}  [{:.4g}, {:.4g}]\n", parameter_names[index],
                       std::exp(model.best.parameters[index]), quantile(values, 0.05), quantile(values, 0.95));
        }
        if (model.held_out_above == 0) {
            fmt::print("\nHeld-out error: unknown, for one node count cannot be left out\n");
            return;
        }
        fmt::print("\nError on more than {} nodes, fitted on the others:\n", model.held_out_above);
        for (auto const& [collective, error] : model.held_out) {
            fmt::print("{:<16} median {:>4.0f} %   90 % below {:>4.0f} %   {} points\n", name_of(collective),
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

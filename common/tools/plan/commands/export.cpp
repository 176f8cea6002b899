// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan export PLAN --to FORMAT -o OUTPUT: a plan in the format of another program, and what that format loses.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/row_named.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/commands/plan_output.hpp"
#include "common/tools/plan/commands/run_plan.hpp"
#include "common/tools/plan/exports/exports.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace dlmb::trace::commands {
namespace {

class PlanExport {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("PLAN", plan_, "file of --plan jsonl or of dlmb_plan; -: standard input")->required();
        parser.add_option("--to", format_, "one of the formats below")->required();
        parser
            .add_option("-o,--output", output_,
                        "the file (-: standard output), or of chakra the folder of a file per rank")
            ->required();
        parser.add_option("--phase", phase_, "only the steps of this phase (the label up to its first dot)");
        parser.footer(export_text());
    }

    [[nodiscard]] int run() const {
        trace::ExportFormat const& format = row_named(trace::all_export_formats(), format_, "format", "--to: ");
        PlanFile const file = read_plan_file(plan_);
        PlanSource const all(file.plans);
        PlanSource const plans = phase_.empty() ? all : trace::only_phase(all, phase_);
        std::string text;
        if (format.folder && is_standard_output(output_)) {
            throw UsageError(fmt::format("-o {}: {} has a file per rank; give a folder", output_, format_));
        }
        if (format.folder) {
            make_folder(output_);
        }
        trace::Losses const losses = format.write(plans, [&](std::string_view name, std::string_view piece) {
            if (format.folder) {
                write_output(std::filesystem::path(output_) / name, piece);
            } else {
                text += piece;
            }
        });
        if (!format.folder) {
            write_output(output_, text);
        }
        std::string const side = trace::losses_json(format.name, losses);
        if (is_standard_output(output_)) {
            print_error(side);
        } else {
            write_output(without_slash() + ".losses.json", side);
        }
        return exit_ok;
    }

private:
    static std::string export_text() {
        std::string text = "Formats:\n";
        for (trace::ExportFormat const& format : trace::all_export_formats()) {
            text += fmt::format("  {:<16}{}\n", format.name, format.description);
        }
        return text + "\nWhat a format does not hold is listed in OUTPUT.losses.json.";
    }
    [[nodiscard]] std::string without_slash() const {
        std::filesystem::path const path = std::filesystem::path(output_).lexically_normal();
        return (path.has_filename() ? path : path.parent_path()).string();
    }

    std::string plan_;
    std::string format_;
    std::string output_;
    std::string phase_;
};

}  // namespace

void add_export(CLI::App& program, int& exit_code) {
    add_command<PlanExport>(program, "export", "write plans in the format of another program", exit_code);
}

}  // namespace dlmb::trace::commands

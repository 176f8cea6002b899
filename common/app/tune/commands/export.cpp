// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune export: a table as the files of another program.
#include "common/app/exit_codes.hpp"
#include "common/app/subcommands.hpp"
#include "common/app/tune/consumers/consumers.hpp"
#include "common/app/tune/run_tune.hpp"
#include "common/tuning/table_file.hpp"

#include <fmt/core.h>

namespace dlmb::app::tune {
namespace {

class Export {
public:
    void add_options(CLI::App& parser) {
        request_.add_to(parser);
        parser.add_option("-o,--output", folder_, "folder that the files go to")->required();
        parser.add_flag("--strict", strict_, "exit with 1 if the other program cannot hold every rule");
    }

    [[nodiscard]] int run() {
        tuning::TuningTable const table = tuning::read_table(request_.table);
        tuning::Export const made = export_table(table, request_);
        write_export(folder_, request_, table, made);
        for (tuning::Lost const& lost : made.lost) {
            fmt::print(stderr, "dlmb_tune: warning: {} is lost ({}): {}\n", lost.rule, name_of(lost.why), lost.detail);
        }
        for (std::string const& note : made.notes) {
            fmt::print(stderr, "dlmb_tune: note: {}\n", note);
        }
        fmt::print("{0}: for {1}; source {0}/env.sh before the program starts, run {0}/verify.sh to see it act\n",
                   folder_, request_.consumer);
        return strict_ && !made.lost.empty() ? exit_cell_failed : exit_ok;
    }

private:
    ExportRequest request_;
    std::string folder_;
    bool strict_ = false;
};

}  // namespace

void add_export(CLI::App& tune, int& exit_code) {
    add_command<Export>(tune, "export", "write a table as the files of another program", exit_code);
}

}  // namespace dlmb::app::tune

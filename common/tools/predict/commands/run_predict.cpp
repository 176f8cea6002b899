// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/run_predict.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"

namespace dlmb::predict {

void add_predict_commands(CLI::App& program, int& exit_code) {
    for (auto const add : {commands::add_fill, commands::add_fit, commands::add_points, commands::add_search,
                           commands::add_table, commands::add_time}) {
        add(program, exit_code);
    }
}

int run_predict(int argc, char** argv) {
    CLI::App program{
        "Predicts times on more nodes than were measured: of collectives by a fitted model, with an error that is "
        "known, and of any plan by simulation",
        "dlmb_predict"};
    int exit_code = exit_ok;
    add_predict_commands(program, exit_code);
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::predict

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/commands/run_tune.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"

namespace dlmb::tuning {

void add_tune_commands(CLI::App& program, int& exit_code) {
    for (auto const add :
         {commands::add_build, commands::add_export, commands::add_lookup, commands::add_show, commands::add_verify}) {
        add(program, exit_code);
    }
}

int run_tune(int argc, char** argv) {
    CLI::App program{"Makes, shows and asks tuning tables: what was measured to be best, and for what", "dlmb_tune"};
    int exit_code = exit_ok;
    add_tune_commands(program, exit_code);
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::tuning

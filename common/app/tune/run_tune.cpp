// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/run_tune.hpp"

#include "common/app/exit_codes.hpp"
#include "common/app/subcommands.hpp"

namespace dlmb::app {

void add_tune_commands(CLI::App& program, int& exit_code) {
    for (auto const add :
         {tune::add_build, tune::add_export, tune::add_gain, tune::add_lookup, tune::add_show, tune::add_verify}) {
        add(program, exit_code);
    }
}

int run_tune(int argc, char** argv) {
    CLI::App program{"Makes, shows and asks tuning tables: what was measured to be best, and for what", "dlmb_tune"};
    int exit_code = exit_ok;
    add_tune_commands(program, exit_code);
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::app

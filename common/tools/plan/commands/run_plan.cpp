// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/commands/run_plan.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"

namespace dlmb::trace {

int run_plan(int argc, char** argv) {
    CLI::App program{"Reads traces of recorded runs and changes, joins and exports plans", "dlmb_plan"};
    int exit_code = exit_ok;
    for (auto const add : {commands::add_summary, commands::add_import, commands::add_transform, commands::add_overlay,
                           commands::add_rescale, commands::add_export}) {
        add(program, exit_code);
    }
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::trace

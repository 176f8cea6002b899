// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/commands/run_trace.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"

namespace dlmb::trace {

int run_trace(int argc, char** argv) {
    CLI::App program{"Reads the communication of recorded runs", "dlmb_trace"};
    int exit_code = exit_ok;
    for (auto const add : {commands::add_summary, commands::add_import, commands::add_export}) {
        add(program, exit_code);
    }
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::trace

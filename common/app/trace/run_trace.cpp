// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/trace/run_trace.hpp"

#include "common/app/exit_codes.hpp"
#include "common/app/subcommands.hpp"

namespace dlmb::app {

int run_trace(int argc, char** argv) {
    CLI::App program{"Reads the communication of recorded runs", "dlmb_trace"};
    int exit_code = exit_ok;
    for (auto const add : {traces::add_summary, traces::add_import, traces::add_export}) {
        add(program, exit_code);
    }
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::app

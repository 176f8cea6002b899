// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune: makes, shows and asks tuning tables.
#pragma once

#include <CLI/CLI.hpp>

namespace dlmb::app {

/// Exit 0, 1 for a fault, 64 for bad usage or a bad input file, 74 when output cannot be written.
int run_tune(int argc, char** argv);

/// Its subcommands, which run as they are parsed.
void add_tune_commands(CLI::App& program, int& exit_code);

}  // namespace dlmb::app

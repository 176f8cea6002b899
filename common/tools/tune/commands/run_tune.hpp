// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune, which makes, shows and asks tuning tables, and its subcommands: each a file of commands/ and a line in
// run_tune.cpp.
#pragma once

namespace CLI {
class App;
}

namespace dlmb::tuning {

/// Exit 0, 1 for a fault, 64 for bad usage or a bad input file, 74 when output cannot be written.
int run_tune(int argc, char** argv);

/// Its subcommands, which run as they are parsed. `exit_code` is that of the subcommand that ran.
void add_tune_commands(CLI::App& program, int& exit_code);

namespace commands {

void add_build(CLI::App& tune, int& exit_code);
void add_export(CLI::App& tune, int& exit_code);
void add_lookup(CLI::App& tune, int& exit_code);
void add_show(CLI::App& tune, int& exit_code);
void add_verify(CLI::App& tune, int& exit_code);

}  // namespace commands
}  // namespace dlmb::tuning

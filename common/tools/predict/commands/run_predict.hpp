// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict and its subcommands: each a file of commands/ and a line in run_predict.cpp.
#pragma once

namespace CLI {
class App;
}

namespace dlmb::predict {

/// main() of dlmb_predict; returns the exit code.
int run_predict(int argc, char** argv);

/// Its subcommands, which run as they are parsed. `exit_code` is that of the subcommand that ran.
void add_predict_commands(CLI::App& program, int& exit_code);

namespace commands {

void add_fill(CLI::App& program, int& exit_code);
void add_fit(CLI::App& program, int& exit_code);
void add_points(CLI::App& program, int& exit_code);
void add_search(CLI::App& program, int& exit_code);
void add_table(CLI::App& program, int& exit_code);
void add_time(CLI::App& program, int& exit_code);

}  // namespace commands
}  // namespace dlmb::predict

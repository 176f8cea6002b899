// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan and its subcommands: each a file of commands/ and a line in run_plan.cpp.
#pragma once

namespace CLI {
class App;
}

namespace dlmb::trace {

/// The program dlmb_plan; returns its exit code.
int run_plan(int argc, char** argv);

namespace commands {

// `exit_code` is that of the subcommand that ran.
void add_export(CLI::App& program, int& exit_code);
void add_import(CLI::App& program, int& exit_code);
void add_overlay(CLI::App& program, int& exit_code);
void add_rescale(CLI::App& program, int& exit_code);
void add_summary(CLI::App& program, int& exit_code);
void add_transform(CLI::App& program, int& exit_code);

}  // namespace commands
}  // namespace dlmb::trace

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace dlmb::app {

/// main() of dlmb_predict; returns the exit code.
int run_predict(int argc, char** argv);

/// Its subcommands, which run as they are parsed.
void add_predict_commands(CLI::App& program, int& exit_code);

}  // namespace dlmb::app

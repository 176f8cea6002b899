// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of dlmb_predict: each a file of commands/ and a line in run_predict.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace dlmb::app::predict {

/// Besides the exit codes of all programs: the model knows that its error is too large to answer.
inline constexpr int exit_unavailable = 69;

/// A Command has add_options(), and run(), which is called at the end of parsing and returns the exit code; it throws
/// UsageError (64), OutputError (74) or Error (1).
template <class Command>
void add_command(CLI::App& program, std::string const& name, std::string const& description, int& exit_code) {
    auto const command = std::make_shared<Command>();
    CLI::App& parser = *program.add_subcommand(name, description);
    command->add_options(parser);
    parser.callback([command, &exit_code] { exit_code = command->run(); });
}

// `exit_code` is that of the subcommand that ran.
void add_cross_validate(CLI::App& program, int& exit_code);
void add_fit(CLI::App& program, int& exit_code);
void add_points(CLI::App& program, int& exit_code);

}  // namespace dlmb::app::predict

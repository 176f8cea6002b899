// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of dlmb_tune: each a file of commands/ and a line in run_tune.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace dlmb::app::tune {

/// A Command has add_options(), and run(), which is called at the end of parsing and returns the exit code; it throws
/// UsageError (64), OutputError (74) or Error (1).
template <class Command>
void add_command(CLI::App& tune, std::string const& name, std::string const& description, int& exit_code) {
    auto const command = std::make_shared<Command>();
    CLI::App& parser = *tune.add_subcommand(name, description);
    command->add_options(parser);
    parser.callback([command, &exit_code] { exit_code = command->run(); });
}

// `exit_code` is that of the subcommand that ran.
void add_build(CLI::App& tune, int& exit_code);
void add_export(CLI::App& tune, int& exit_code);
void add_gain(CLI::App& tune, int& exit_code);
void add_lookup(CLI::App& tune, int& exit_code);
void add_show(CLI::App& tune, int& exit_code);
void add_verify(CLI::App& tune, int& exit_code);

}  // namespace dlmb::app::tune

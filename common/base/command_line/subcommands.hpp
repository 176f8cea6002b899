// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared code of the programs with subcommands (dlmb_tune, dlmb_predict, dlmb_plan).
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <span>
#include <string>

namespace dlmb {

/// The error in the command line of `program`, with the nearest names for an option or subcommand that there is
/// not.
[[nodiscard]] std::string usage_text(CLI::App const& program, CLI::ParseError const& error);

/// Throws UsageError for an option whose value is empty, as `--results=$UNSET` and `--results "$UNSET"` are in a shell:
/// CLI11 takes the next word for the value of the first, and an empty value would read as an option that was not given.
void require_values(std::span<std::string const> words);

/// A Command has add_options(), and run(), which is called at the end of parsing and returns the exit code; it throws
/// UsageError (64), OutputError (74) or Error (1). `exit_code` is that of the subcommand that ran.
template <class Command>
void add_command(CLI::App& program, std::string const& name, std::string const& description, int& exit_code) {
    auto const command = std::make_shared<Command>();
    CLI::App& parser = *program.add_subcommand(name, description);
    command->add_options(parser);
    parser.callback([command, &exit_code] { exit_code = command->run(); });
}

/// main() of the program that `program` is named after and that has its subcommands; returns `exit_code` as it is after
/// them, or that of what they threw: 1 for a fault, 64 for bad usage or a bad input file, 74 when output cannot be
/// written.
[[nodiscard]] int run_subcommands(CLI::App& program, int argc, char** argv, int const& exit_code);

}  // namespace dlmb

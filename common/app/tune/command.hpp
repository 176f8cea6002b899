// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One subcommand of dlmb_tune. A file commands/NAME.cpp that defines make_NAME() is all that a new one needs: CMake
// lists the folder.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace dlmb::app::tune {

class Command {
public:
    virtual ~Command() = default;
    /// One line for the help.
    [[nodiscard]] virtual std::string description() const = 0;
    /// The subcommand's parser lives as long as this.
    virtual void add_options(CLI::App& parser) = 0;
    /// After parsing. Returns the exit code; throws UsageError (64), OutputError (74) or Error (1).
    [[nodiscard]] virtual int run() = 0;
};

struct NamedCommand {
    std::string name;
    std::unique_ptr<Command> command;
};

/// Those of commands/, by name.
[[nodiscard]] std::vector<NamedCommand> make_commands();

}  // namespace dlmb::app::tune

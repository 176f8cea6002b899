// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One subcommand of dlmb_tune: a file of commands/ and a row in run_tune.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

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

[[nodiscard]] std::unique_ptr<Command> make_build();
[[nodiscard]] std::unique_ptr<Command> make_export();
[[nodiscard]] std::unique_ptr<Command> make_gain();
[[nodiscard]] std::unique_ptr<Command> make_lookup();
[[nodiscard]] std::unique_ptr<Command> make_show();
[[nodiscard]] std::unique_ptr<Command> make_verify();

}  // namespace dlmb::app::tune

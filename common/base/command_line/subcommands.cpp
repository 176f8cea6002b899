// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/command_line/subcommands.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/version.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>
#include <vector>

namespace dlmb {
namespace {

/// The subcommand that was named, as deep as they go; the program itself without one.
CLI::App const& innermost(CLI::App const& program) {
    CLI::App const* app = &program;
    while (!app->get_subcommands().empty()) {
        app = app->get_subcommands().front();
    }
    return *app;
}

std::vector<std::string> subcommands_of(CLI::App const& app) {
    std::vector<std::string> names;
    for (CLI::App const* each : app.get_subcommands([](CLI::App const*) { return true; })) {
        names.push_back(each->get_name());
    }
    return names;
}

}  // namespace

std::string usage_text(CLI::App const& program, CLI::ParseError const& error) {
    CLI::App const& app = innermost(program);
    // A program may take words that its parser does not know: they are the fault only where that says so.
    bool const is_of_words = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                             error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
    std::vector<std::string> const unexpected = is_of_words ? program.remaining(true) : std::vector<std::string>{};
    if (unexpected.empty()) {
        return error.what();
    }
    std::string const word = unexpected.front().substr(0, unexpected.front().find('='));
    std::vector<std::string> const subcommands = subcommands_of(app);
    if (!word.starts_with('-')) {
        return subcommands.empty() ? fmt::format("unexpected argument '{}'", word)
                                   : unknown_name("subcommand", word, subcommands);
    }
    std::vector<std::string> known;
    for (CLI::Option const* option : app.get_options()) {
        for (std::string const& name : option->get_lnames()) {
            known.push_back("--" + name);
        }
    }
    return unknown_name("option", word, known);
}

void require_values(std::span<std::string const> words) {
    std::string_view option;
    for (std::string_view const word : words) {
        if (word == "--") {
            return;
        }
        bool const assigns_nothing = word.starts_with("--") && word.find('=') == word.size() - 1;
        if (assigns_nothing || (word.empty() && !option.empty())) {
            throw UsageError(
                assigns_nothing
                    ? fmt::format("{}: its value is empty; give one, or leave the option out",
                                  word.substr(0, word.size() - 1))
                    : fmt::format(
                          "the word '' after {0} is empty; give a value, or leave it out (with {0} if it takes one)",
                          option));
        }
        option = word.starts_with('-') ? word : std::string_view();
    }
}

int run_subcommands(CLI::App& program, int argc, char** argv, int const& exit_code) {
    auto const complain = [&](std::string_view what, int code) {
        print_error(fmt::format("{}: error: {}\n", program.get_name(), one_line(what)));
        return code;
    };
    hold_standard_streams();
    BuildInfo const& build = build_info();
    program.set_version_flag("--version", fmt::format("{} {} ({}, {}, {})", program.get_name(), build.version,
                                                      build.git_revision, build.compiler, build.build_type));
    program.require_subcommand(1);
    try {
        require_values(std::vector<std::string>(argv + 1, argv + argc));
        program.parse(argc, argv);
        flush_standard_output();
        return exit_code;
    } catch (CLI::Success const& request) {  // --help, --version
        int const code = program.exit(request);
        return std::cout.flush() ? code : complain("standard output cannot be written", exit_output);
    } catch (CLI::ParseError const& error) {
        return complain(fmt::format("{}; see {} --help", usage_text(program, error), program.get_name()), exit_usage);
    } catch (UsageError const& error) {
        return complain(error.what(), exit_usage);
    } catch (OutputError const& error) {
        return complain(error.what(), exit_output);
    } catch (std::exception const& error) {
        bool const lost = std::ferror(stdout) != 0;  // what fmt::print threw
        return complain(lost ? "standard output cannot be written" : error.what(),
                        lost ? exit_output : exit_cell_failed);
    }
}

}  // namespace dlmb

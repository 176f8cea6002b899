// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/run_tune.hpp"

#include "common/app/reporter.hpp"
#include "common/app/tune/command.hpp"
#include "common/base/error.hpp"
#include "common/base/version.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <map>

namespace dlmb::app {
namespace {

int complain(std::string_view what, int code) {
    fmt::print(stderr, "dlmb_tune: error: {}\n", what);
    return code;
}

using Commands = std::map<std::string, std::unique_ptr<tune::Command>>;

Commands make_commands() {
    Commands commands;
    commands["build"] = tune::make_build();
    commands["export"] = tune::make_export();
    commands["gain"] = tune::make_gain();
    commands["lookup"] = tune::make_lookup();
    commands["show"] = tune::make_show();
    commands["verify"] = tune::make_verify();
    return commands;
}

int run_chosen(Commands const& commands, CLI::App const& parser) {
    for (auto const& [name, command] : commands) {
        if (parser.got_subcommand(name)) {
            int const code = command->run();
            return std::fflush(stdout) == 0 ? code : complain("standard output cannot be written", exit_output);
        }
    }
    return complain("no subcommand; see dlmb_tune --help", exit_usage);
}

}  // namespace

int run_tune(int argc, char** argv) {
    CLI::App parser{"Makes, shows and asks tuning tables: what was measured to be best, and for what", "dlmb_tune"};
    parser.set_version_flag("--version", std::string{build_info().version});
    parser.require_subcommand(1);
    Commands const commands = make_commands();
    for (auto const& [name, command] : commands) {
        command->add_options(*parser.add_subcommand(name, command->description()));
    }
    try {
        parser.parse(argc, argv);
        return run_chosen(commands, parser);
    } catch (CLI::Success const& request) {  // --help, --version
        return parser.exit(request);
    } catch (CLI::ParseError const& error) {
        return complain(fmt::format("{}; see dlmb_tune --help", error.what()), exit_usage);
    } catch (UsageError const& error) {
        return complain(error.what(), exit_usage);
    } catch (OutputError const& error) {
        return complain(error.what(), exit_output);
    } catch (std::exception const& error) {
        return complain(error.what(), exit_cell_failed);
    }
}

}  // namespace dlmb::app

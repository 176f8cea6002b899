// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/run_tune.hpp"

#include "common/app/reporter.hpp"
#include "common/app/tune/command.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/version.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>

namespace dlmb::app {
namespace {

int complain(std::string_view what, int code) {
    fmt::print(stderr, "dlmb_tune: error: {}\n", one_line(what));
    return code;
}

}  // namespace

int run_tune(int argc, char** argv) {
    CLI::App parser{"Makes, shows and asks tuning tables: what was measured to be best, and for what", "dlmb_tune"};
    parser.set_version_flag("--version", std::string{build_info().version});
    parser.require_subcommand(1);
    int exit_code = exit_ok;
    for (auto const add :
         {tune::add_build, tune::add_export, tune::add_gain, tune::add_lookup, tune::add_show, tune::add_verify}) {
        add(parser, exit_code);
    }
    try {
        parser.parse(argc, argv);
        flush_standard_output();
        return exit_code;
    } catch (CLI::Success const& request) {  // --help, --version
        int const code = parser.exit(request);
        return std::cout.flush() ? code : complain("standard output cannot be written", exit_output);
    } catch (CLI::ParseError const& error) {
        return complain(fmt::format("{}; see dlmb_tune --help", error.what()), exit_usage);
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

}  // namespace dlmb::app

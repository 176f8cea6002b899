// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/predict/run_predict.hpp"

#include "common/app/predict/command.hpp"
#include "common/app/reporter.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/version.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>

namespace dlmb::app {
namespace {

int complain(std::string_view what, int code) {
    fmt::print(stderr, "dlmb_predict: error: {}\n", one_line(what));
    return code;
}

}  // namespace

int run_predict(int argc, char** argv) {
    CLI::App parser{"Predicts times of collectives on more nodes than were measured, with an error that is known",
                    "dlmb_predict"};
    parser.set_version_flag("--version", std::string{build_info().version});
    parser.require_subcommand(1);
    int exit_code = exit_ok;
    for (auto const add : {predict::add_cross_validate, predict::add_fit, predict::add_points}) {
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
        return complain(fmt::format("{}; see dlmb_predict --help", error.what()), exit_usage);
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

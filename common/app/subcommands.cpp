// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/subcommands.hpp"

#include "common/app/exit_codes.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/version.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <iostream>

namespace dlmb::app {

int run_subcommands(CLI::App& program, int argc, char** argv, int const& exit_code) {
    auto const complain = [&](std::string_view what, int code) {
        fmt::print(stderr, "{}: error: {}\n", program.get_name(), one_line(what));
        return code;
    };
    program.set_version_flag("--version", std::string{build_info().version});
    program.require_subcommand(1);
    try {
        program.parse(argc, argv);
        flush_standard_output();
        return exit_code;
    } catch (CLI::Success const& request) {  // --help, --version
        int const code = program.exit(request);
        return std::cout.flush() ? code : complain("standard output cannot be written", exit_output);
    } catch (CLI::ParseError const& error) {
        return complain(fmt::format("{}; see {} --help", error.what(), program.get_name()), exit_usage);
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

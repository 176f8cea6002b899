// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/benchmark.hpp"

#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/run/launch.hpp"
#include "common/run/launcher/launcher.hpp"
#include "common/run/printouts.hpp"
#include "common/run/reporter.hpp"

#include <fmt/core.h>

#include <optional>

namespace dlmb::run {
namespace {

class BenchmarkProgram {
public:
    BenchmarkProgram(PatternType const& type, std::vector<std::string> const& arguments) : type_(type) {
        try {
            parsed_ = parse_options(type, arguments);
        } catch (UsageError const& error) {
            problem_ = error.what();
        }
    }

    /// nullptr: there is a text to print, or something is wrong with them.
    [[nodiscard]] Options const* options() const { return problem_ ? nullptr : std::get_if<Options>(&parsed_); }

    /// The part that needs no other rank; -1 when there is something to measure.
    [[nodiscard]] int speak() const {
        if (problem_) {
            complain(one_line(*problem_));
            return exit_usage;
        }
        try {
            if (auto const* printout = std::get_if<std::string>(&parsed_)) {
                write_output("-", *printout);
            } else if (options()->plan) {
                print_plans(type_, *options(), [](std::string_view text) { write_output("-", text); });
            } else {
                return -1;
            }
            return exit_ok;
        } catch (UsageError const& error) {
            complain(one_line(error.what()));
            return exit_usage;
        } catch (OutputError const& error) {
            complain(error.what());
            return exit_output;
        }
    }

    /// One rank of a launch. `watch`: there is one if this measures.
    [[nodiscard]] int run(Bootstrap& bootstrap, std::optional<LaunchWatch>& watch) const {
        bool const first = bootstrap.rank() == 0;
        if (!watch) {
            return from_rank(bootstrap, first ? speak() : 0);
        }
        try {
            return run_launch(bootstrap, type_, *options(), *watch);
        } catch (UsageError const& error) {
            return refuse(*watch, first, error, exit_usage);
        } catch (OutputError const& error) {
            return refuse(*watch, first, error, exit_output);
        }
    }

    /// Where there is something to measure: watches this rank, as far as it is known, with the signals or without.
    void watch_rank(std::optional<LaunchWatch>& watch, std::optional<int> rank, bool takes_signals) const {
        if (options() != nullptr && !options()->plan) {
            watch.emplace(fmt::format("dlmb_{}", type_.name), rank.value_or(-1), options()->runner.timeout_ns,
                          takes_signals ? measure::Watchdog::Signals::taken : measure::Watchdog::Signals::left_alone);
        }
    }
    void complain(std::string_view what) const { print_error(fmt::format("dlmb_{}: error: {}\n", type_.name, what)); }

private:
    /// Said once, by the first rank.
    [[nodiscard]] int refuse(LaunchWatch& watch, bool first, std::exception const& error, int code) const {
        watch.end();
        if (first) {
            complain(one_line(error.what()));
        }
        return code;
    }

    PatternType const& type_;
    std::variant<Options, std::string> parsed_;
    std::optional<std::string> problem_;  // with the options
};

/// A fault on one rank ends all of them: the others would wait for it for ever.
int run_or_abort(BenchmarkProgram const& program, Bootstrap& bootstrap, std::optional<LaunchWatch>& watch) {
    int code = exit_cell_failed;
    try {
        code = program.run(bootstrap, watch);
    } catch (std::exception const& error) {
        program.complain(fmt::format("rank {} ({}): {}", bootstrap.rank(), bootstrap.host(), error.what()));
        bootstrap.abort(code);
    }
    return code;
}

int start(int argc, char** argv, LauncherVariables const& variables, BenchmarkProgram const& program) {
    Options const* const options = program.options();
    if (started_by_launcher(variables)) {
        if (options != nullptr && options->chooses_algorithms()) {
            offer_library_algorithms();
        }
        std::string_view const thread_level = options != nullptr ? options->mpi_thread : default_mpi_thread;
        std::optional<LaunchWatch> watch;  // outlives MPI
        program.watch_rank(watch, launcher_info(variables).rank, true);
        return run_under_launcher(argc, argv, thread_level, [&](Bootstrap& bootstrap, Nanoseconds /*mpi_init_ns*/) {
            return run_or_abort(program, bootstrap, watch);
        });
    }
    int const code = program.speak();
    if (code >= 0) {
        return code;
    }
    int ranks_code = exit_ok;
    in_process::run_ranks(options->ranks, options->ranks_per_node.value_or(0), [&](Bootstrap& bootstrap) {
        std::optional<LaunchWatch> watch;
        // The rank that holds the results file takes the signals of the process.
        program.watch_rank(watch, bootstrap.rank(), bootstrap.rank() == 0);
        int const mine = run_or_abort(program, bootstrap, watch);
        if (bootstrap.rank() == 0) {
            ranks_code = mine;
        }
    });
    return ranks_code;
}

}  // namespace

int run_benchmark(int argc, char** argv, PatternType const& type) {
    hold_standard_streams();
    BenchmarkProgram const program(type, {argv, argv + argc});
    LauncherVariables const variables = read_launcher_variables();
    try {
        return start(argc, argv, variables, program);
    } catch (UsageError const& error) {
        if (launcher_info(variables).rank.value_or(0) == 0) {
            program.complain(one_line(error.what()));
        }
        return exit_usage;
    } catch (std::exception const& error) {
        program.complain(error.what());
        return exit_cell_failed;
    }
}

}  // namespace dlmb::run

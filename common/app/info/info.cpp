// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/info/info.hpp"

#include "common/app/info/info_facts.hpp"
#include "common/app/info/noise_floor.hpp"
#include "common/app/launcher/launcher.hpp"
#include "common/app/reporter.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <filesystem>
#include <vector>

namespace dlmb::app {
namespace {

int print(Bootstrap& bootstrap, bool json) {
    InfoJson const info = collect_info(bootstrap);
    if (bootstrap.rank() == 0) {
        fmt::print("{}", json ? info.dump(2) + "\n" : info_text(info));
    }
    return exit_ok;
}

void print_noise(NoiseFloor const& floor, bool json) {
    InfoJson const noise = noise_json(floor);
    fmt::print("{}", json ? noise.dump(2) + "\n" : noise_text(noise));
}

int calibrate(Bootstrap& bootstrap, bool json) {
    NoiseFloor const floor = measure_noise_floor(bootstrap);
    if (bootstrap.rank() == 0) {
        print_noise(floor, json);
    }
    return exit_ok;
}

}  // namespace

int run_info(int argc, char** argv) {
    bool json = false;
    bool probe = false;
    bool noise = false;
    std::vector<std::filesystem::path> from;
    CLI::App app{"What this build and this machine can do, and why something is missing", "dlmb_info"};
    app.add_flag("--json", json, "print one JSON object");
    auto* const calibrating = app.add_flag(
        "--calibrate", noise, "noise floor over the ranks of this launch, and what slowdown several launches can show");
    app.add_option("--from", from, "result files of several launches: their spread, instead of measuring")
        ->needs(calibrating);
    app.add_flag("--probe-mpi-device", probe, "try whether MPI takes device memory (two ranks; it may crash)");
    try {
        app.parse(argc, argv);
    } catch (CLI::CallForHelp const&) {
        fmt::print("{}", app.help());
        return exit_ok;
    } catch (CLI::ParseError const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_usage;
    }
    try {
        if (!from.empty()) {
            print_noise(read_noise_floor(from), json);
            return exit_ok;
        }
        if (mpi_in_this_build()) {
            return run_under_launcher(argc, argv, [&](Bootstrap& bootstrap) {
                return probe   ? probe_mpi_device(bootstrap)
                       : noise ? calibrate(bootstrap, json)
                               : print(bootstrap, json);
            });
        }
        if (probe) {
            throw UsageError("--probe-mpi-device: this build has no MPI; configure with -DDLMB_WITH_MPI=ON");
        }
        in_process::run_ranks(
            1, [&](Bootstrap& bootstrap) { (void)(noise ? calibrate(bootstrap, json) : print(bootstrap, json)); });
        return exit_ok;
    } catch (UsageError const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_usage;
    } catch (std::exception const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_cell_failed;
    }
}

}  // namespace dlmb::app

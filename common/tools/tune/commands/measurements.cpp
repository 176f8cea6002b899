// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/commands/measurements.hpp"

#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/formats/table/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace dlmb::tuning::commands {
namespace {

namespace fs = std::filesystem;

/// Files as they are, and those of folders sorted.
std::vector<fs::path> result_files(std::vector<std::string> const& arguments) {
    std::vector<fs::path> files;
    for (std::string const& argument : arguments) {
        if (!fs::is_directory(argument)) {
            files.emplace_back(argument);
            continue;
        }
        std::set<fs::path> inside;
        for (fs::directory_entry const& entry : fs::directory_iterator(argument)) {
            if (entry.path().extension() == ".jsonl") {
                inside.insert(entry.path());
            }
        }
        if (inside.empty()) {
            throw UsageError(fmt::format("{}: no result files (*.jsonl) in this folder", argument));
        }
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

std::string sweep_name(std::string const& path) {
    std::string name = "tuning-" + fs::path(path).stem().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '-');
    return name;
}

}  // namespace

void AcceptOptions::add_to(CLI::App& parser) {
    parser
        .add_option("--timing", timing,
                    "cells that count: isolated calls, or stream, back to back [the one that all cells are of]")
        ->check(CLI::IsMember({tuning::isolated_timing, tuning::stream_timing}));
    parser
        .add_option("--methods", methods,
                    "methods that compete with the default, without knobs [all]; 'algorithm' for a table that is to be "
                    "exported to an MPI library")
        ->delimiter(',');
    parser
        .add_option("--accept", words,
                    "let pass what weakens a table: oversubscribed, quick (under six rounds), unconfirmed")
        ->delimiter(',');
}

bool AcceptOptions::has(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
}

tuning::Accepted AcceptOptions::checked() const {
    static std::vector<std::string> const known{"oversubscribed", "quick", "unconfirmed"};
    for (std::string const& word : words) {
        if (std::find(known.begin(), known.end(), word) == known.end()) {
            throw UsageError(fmt::format("--accept: {}", unknown_name("accept", word, known)));
        }
    }
    return {has("oversubscribed"), has("quick"), timing, methods};
}

std::vector<tuning::Input> read_results(std::vector<std::string> const& arguments, tuning::Observations& observations,
                                        record::Converted converted) {
    std::vector<tuning::Input> inputs;
    for (fs::path const& path : result_files(arguments)) {
        tuning::Input input{path.filename().string(), tuning::sha256_of_file(path), {}};
        record::ResultFile const file = record::read_results(path, converted);
        for (std::string const& remark : file.remarks) {
            print_error(fmt::format("dlmb_tune: {}: {}\n", path.string(), remark));
        }
        observations.add(file, path.string());
        for (record::Launch const& launch : file.launches) {
            input.launches.push_back(launch.launch_id);
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

void print_refused(tuning::Observations const& observations, PrintedTo report) {
    print_to(report, fmt::format("cells     {} of {} used\n", observations.kept().size(), observations.cells()));
    for (auto const& [reason, count] : observations.refused()) {
        print_to(report, fmt::format("  {} not: {}\n", count, reason));
    }
    if (std::uint64_t const alone = tuning::without_default(observations.kept()); alone > 0) {
        print_to(
            report,
            fmt::format("  {} of those decide nothing: the default of the same launch, backend and size is missing\n",
                        alone));
    }
}

void write_sweep(std::string const& path, std::vector<tuning::NextJob> const& jobs, tuning::NextLaunches const& how,
                 PrintedTo report) {
    if (path.empty()) {
        return;
    }
    if (jobs.empty()) {
        print_to(report, fmt::format("{}: nothing is left to measure; not written\n", path));
        return;
    }
    write_output(path, sweep_file(sweep_name(path), jobs, how));
    print_to(report, fmt::format("next      launch/dlmb_sweep {}\n", path));
}

}  // namespace dlmb::tuning::commands

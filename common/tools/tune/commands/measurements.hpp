// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Result files as arguments of a subcommand, the cells of them that count, and what to measure next as a sweep file.
#pragma once

#include "common/base/output_file.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/tools/tune/build/next_sweep.hpp"
#include "common/tools/tune/build/observe.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace dlmb::tuning::commands {

/// The options by which cells count: --timing, --methods and --accept.
struct AcceptOptions {
    std::string timing;  // empty: the one of all cells
    std::vector<std::string> methods;
    std::vector<std::string> words;

    void add_to(CLI::App& parser);
    [[nodiscard]] bool has(std::string_view word) const;
    /// Throws UsageError for a word that is none.
    [[nodiscard]] tuning::Accepted checked() const;
};

/// Files, and those of folders that end in .jsonl, into `observations`. What a file lacks is said on standard error.
std::vector<tuning::Input> read_results(std::vector<std::string> const& arguments, tuning::Observations& observations,
                                        record::Converted converted = record::Converted::refused);

/// How many cells count, and why the others do not.
void print_refused(tuning::Observations const& observations, PrintedTo report);

/// Writes a sweep file and says how to run it, or that nothing is left. Nothing for an empty path. The sweep is named
/// after the file, so that another file has another folder of results. Throws OutputError.
void write_sweep(std::string const& path, std::vector<tuning::NextJob> const& jobs, tuning::NextLaunches const& how,
                 PrintedTo report);

}  // namespace dlmb::tuning::commands

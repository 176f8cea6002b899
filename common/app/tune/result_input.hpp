// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Result files as arguments of a subcommand, and the cells of them that count.
#pragma once

#include "common/tuning/build/observe.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace dlmb::app::tune {

/// The options by which cells count: --timing, --methods and --accept.
struct AcceptOptions {
    std::string timing = "isolated";
    std::vector<std::string> methods;
    std::vector<std::string> words;

    void add_to(CLI::App& parser);
    [[nodiscard]] bool has(std::string_view word) const;
    /// Throws UsageError for a word that is none.
    [[nodiscard]] tuning::Accepted checked() const;
};

/// Files, and those of folders that end in .jsonl, into `observations`. What a file lacks is said on standard error.
std::vector<tuning::Input> read_results(std::vector<std::string> const& arguments, tuning::Observations& observations);

/// How many cells count, and why the others do not.
void print_refused(tuning::Observations const& observations);

}  // namespace dlmb::app::tune

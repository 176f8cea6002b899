// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options of the subcommands that read a trace.
#pragma once

#include "common/tools/plan/plans.hpp"
#include "common/tools/plan/trace.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace dlmb::trace::commands {

class TraceOptions {
public:
    void add(CLI::App& parser);
    /// Throws UsageError for what is no trace, is damaged, or is not what --format and --assume say.
    [[nodiscard]] trace::Trace read() const;
    /// How often each rank repeats its operations; none: nothing is assumed.
    [[nodiscard]] std::optional<int> iterations() const;
    /// The words of --assume: KEY=VALUE.
    [[nodiscard]] std::vector<std::string> const& assumed() const { return assumptions_; }

private:
    std::vector<std::string> files_;
    std::string format_;
    std::vector<std::string> assumptions_;
};

}  // namespace dlmb::trace::commands

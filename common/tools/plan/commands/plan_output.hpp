// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where subcommands that change plans write them.
#pragma once

#include "common/formats/plan/plan_source.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace dlmb::trace::commands {

/// Makes a folder for a file per rank or iteration. Files of another run in it would be read with them: throws
/// UsageError for them, OutputError where there can be no folder.
void make_folder(std::string const& path);

/// Standard output gets plans as they come, so that a pipe begins with the first one; a file all of them at the end.
class PlanOutput {
public:
    void add(CLI::App& parser);
    [[nodiscard]] TextSink sink();
    /// Behind the last plan. As sink() throws OutputError.
    void close() const;

private:
    std::string path_ = "-";
    std::string text_;  // of a file
};

}  // namespace dlmb::trace::commands

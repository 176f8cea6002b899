// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where subcommands that change plans write them.
#pragma once

#include "common/formats/plan/plan_source.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace dlmb::trace::commands {

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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the files of a trace, in whichever of the known formats they are.
#pragma once

#include "common/tools/plan/builder.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dlmb::trace {

/// In the order in which they are tried.
[[nodiscard]] std::span<TraceFormat const> all_formats();

struct ReadOptions {
    std::string format;  // a name in all_formats(); empty: found out from the files
    Assumptions assumptions;
};

/// Throws UsageError for files that cannot be read, are damaged, are of different formats, or do not say what a trace
/// needs; the message says what to record instead.
[[nodiscard]] Trace read_trace(std::vector<std::filesystem::path> const& paths, ReadOptions const& options);

}  // namespace dlmb::trace

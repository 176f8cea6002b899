// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads result files, also those of launches that were killed. Unknown fields and unknown kinds of lines are passed
// over: a newer minor version may have added them.
#pragma once

#include "common/record/record.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace dlmb::record {

struct StoredCell {
    std::string launch_id;
    Record cell;
};

struct ResultFile {
    std::vector<Launch> launches;
    std::vector<StoredCell> cells;  // in file order
    std::vector<End> ends;
    std::vector<std::string> remarks;  // "launch 01..ef has no end line: it was killed or still runs"
};

/// Throws UsageError naming file and line for anything but a broken last line.
[[nodiscard]] ResultFile read_results(std::filesystem::path const& path);

/// Ids of cells that need not be measured again: those with status ok in any launch of the file. A file that does not
/// exist has none.
[[nodiscard]] std::set<std::string> finished_cells(std::filesystem::path const& path);

}  // namespace dlmb::record

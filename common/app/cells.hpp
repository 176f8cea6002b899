// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one point of a sweep: which (backend, method) pairs are asked for and still to be measured.
#pragma once

#include "common/app/backends.hpp"
#include "common/app/sweep.hpp"
#include "common/measure/cell.hpp"
#include "common/record/record.hpp"

#include <set>
#include <string>
#include <vector>

namespace dlmb::app {

/// What the cells of a launch are chosen by.
struct CellSource {
    PatternType const& type;
    Options const& options;
    WorldShape world;
    std::vector<OpenedBackend> const& backends;
    std::set<std::string> finished;  // ids of cells that the results file holds, with --resume
};

struct PointCells {
    struct Skipped {
        measure::Cell cell;
        std::string reason;
    };
    std::vector<measure::Cell> open;  // still to be measured; nothing is compiled
    std::vector<Skipped> skipped;     // cannot run here
    std::uint64_t finished = 0;       // the results file holds them
};

/// Draws that a launch compiles of this traffic.
[[nodiscard]] std::uint32_t draws_of(Pattern const& pattern, Options const& options);

/// Throws UsageError for a requested method that none of the usable backends has.
void check_methods(std::span<OpenedBackend const> backends, Options const& options);

[[nodiscard]] PointCells cells_of(CellSource const& source, SweepPoint const& point, Pattern const& pattern);

/// What a result line says of this cell whatever measuring it gives.
[[nodiscard]] record::Record record_of(measure::Cell const& cell);

}  // namespace dlmb::app

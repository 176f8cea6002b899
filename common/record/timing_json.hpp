// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks began the samples of a cell and how they came and went, to and from the cell's line.
#pragma once

#include "common/measure/cell_result.hpp"
#include "common/record/json_parts.hpp"

namespace dlmb::record {

/// Sets sync, skew_ns, last_arrival_ns, imbalance_time, critical_phase, rank_times_ns and suspects; all null unless the
/// cell is ok.
void write_timing(measure::CellResult const& result, Json& line);

/// Of an ok cell; lines without these fields (1.0) leave `result` as it is.
void read_timing(Json const& line, measure::CellResult& result);

}  // namespace dlmb::record

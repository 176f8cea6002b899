// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads tables of collective times as text with commas, with the columns of the data of PICO (De Sensi, Pasqualoni
// 2025): system, nodes, collective, algorithm, bytes; ranks_per_node and gpu may be absent (1, no); median_us is needed
// for a fit.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

struct TableLine {
    std::string text;  // as it stands in the file
    Measurement measurement;
    std::string unusable;  // why no model can answer it, such as a collective that is unknown; empty: none
};

struct MeasurementTable {
    std::string header;
    std::vector<TableLine> lines;
};

/// Throws UsageError "NAME: line N: what is wrong". Blank lines are left out. With `needs_times`, median_us must be
/// there and above 0.
[[nodiscard]] MeasurementTable read_measurements(std::string_view text, std::string_view name, bool needs_times);

}  // namespace dlmb::predict

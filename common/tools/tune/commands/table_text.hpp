// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a tuning table for human eyes.
#pragma once

#include "common/formats/table/table.hpp"

#include <string>
#include <vector>

namespace dlmb::tuning::commands {

using TextRow = std::vector<std::string>;
/// Left-aligned columns, a line per row; rows have equally many cells, and there is at least one.
[[nodiscard]] std::string columns_text(std::vector<TextRow> const& rows);

/// "64 K", "65535": exact, a unit only where it divides.
[[nodiscard]] std::string exact_bytes(Bytes bytes);

/// "blocking, ring (open_mpi.tuned 4) {"segment_bytes":0}".
[[nodiscard]] std::string method_text(Choice const& choice);

/// "23.0 % [19.0, 26.0]"; "23.0 % [not known]" of foreign evidence and of too few launches; "-" without evidence.
[[nodiscard]] std::string gain_text(Rule const& rule);
[[nodiscard]] std::string gain_text(double gain, double low, double high);

/// "118 -> 91 us, 3 sizes, 8 + 8 launches"; "foreign: 118 -> 91 us, 3 sizes, medians of pico, 1 launches";
/// "predicted: 118 -> 91 us, 3 sizes, fitted on up to 64 nodes, error 18 %"; "hand-written" without.
[[nodiscard]] std::string evidence_text(Rule const& rule);

}  // namespace dlmb::tuning::commands

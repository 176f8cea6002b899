// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a table gains, for human eyes.
#pragma once

#include "common/tuning/gain/expected.hpp"
#include "common/tuning/gain/measured.hpp"

#include <string>
#include <vector>

namespace dlmb::app::tune {

/// A line per size, and the geometric means of each scope, operation and number of ranks.
[[nodiscard]] std::string measured_text(std::vector<tuning::SizeGain> const& gains);

/// A line per kind of operation, the most expensive first, and what all of them together gain. `workload`: its name.
[[nodiscard]] std::string expected_text(std::string const& workload, tuning::ExpectedGain const& gain);

}  // namespace dlmb::app::tune

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Measured collectives from result files of DLMB and from tables with the columns of the data of PICO, as
// predict::check_guidelines takes them.
#pragma once

#include "common/tools/predict/guidelines.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb::predict::commands {

struct TimedCalls {
    std::vector<dlmb::predict::TimedCall> calls;  // each (setting, collective, bytes) once
    std::uint64_t used = 0;                       // cells, or lines of a table
    std::uint64_t left_out = 0;                   // not of one of the collectives, or not measured well
    std::vector<std::string> remarks;             // such as "a launch was killed"
};

/// The interval of a time is, from launches: the 95 % interval of the median over 6 or more of them, below that the
/// hull of their own 95 % intervals; from a table: the hull of p10_us to p90_us, which is wider than an interval of the
/// median. Converted result lines have none. Throws UsageError naming the file.
[[nodiscard]] TimedCalls read_timed_calls(std::vector<std::string> const& paths);

}  // namespace dlmb::predict::commands

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which lines of a table can be fitted. A library that is told to run an algorithm may run its own decision all the
// same, such as where a setting did not reach it. Only times tell of that: what is left out for it is a guess.
#pragma once

#include "common/tools/predict/measurements.hpp"

#include <string>
#include <vector>

namespace dlmb::predict {

struct LinesToFit {
    std::vector<Measurement> measurements;
    LineCounts left_out;  // of algorithms that are known, but seem not to have run
};

/// The measurements of known algorithms, without those that seem to have run something else. Of a job an algorithm
/// "X_LIBRARY" is left out where at more than half of its sizes it takes the times of "default_LIBRARY" and of
/// "Y_LIBRARY", though X and Y have other messages, and where at two of these sizes or more another implementation of X
/// takes much longer or shorter. Alone, the times of the decision say nothing: it may be X.
[[nodiscard]] LinesToFit lines_to_fit(std::vector<TableLine> const& lines);

/// "18 lines were left out, for ...: allreduce ring_mpich (18)"; empty where there are none.
[[nodiscard]] std::string describe(LineCounts const& left_out);

}  // namespace dlmb::predict

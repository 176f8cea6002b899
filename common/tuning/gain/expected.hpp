// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a table is expected to gain for the traffic of a workload, from the evidence of its rules alone: nothing is
// measured here, and what a workload overlaps or waits for is not known.
#pragma once

#include "common/tuning/build/next_sweep.hpp"
#include "common/tuning/gain/traffic.hpp"
#include "common/tuning/table.hpp"

#include <string>
#include <vector>

namespace dlmb::tuning {

struct ExpectedStep {
    Demand demand;
    double count = 0;            // per rank and iteration
    Rule const* rule = nullptr;  // of the table, with evidence; nullptr: nothing was measured here
};

/// Times per rank and iteration, nanoseconds, of the steps that the table has evidence for. A rule's time and gain are
/// geometric means over the sizes that it was measured at, so that a wide rule is a coarse estimate.
struct ExpectedGain {
    std::vector<ExpectedStep> steps;
    double default_ns = 0;
    double saved_ns = 0;
    double covered = 0;    // operations per rank and iteration with evidence
    double uncovered = 0;  // and without
};

/// `backend`: whose methods are chosen. `memory`: that the workload communicates from.
[[nodiscard]] ExpectedGain expected_gain(TuningTable const& table, Traffic const& traffic, std::string const& backend,
                                         std::string const& memory);

/// By all methods of `backend`, the sizes of the workload that the table has no evidence for: where measurements are
/// best spent.
[[nodiscard]] std::vector<NextJob> searches(ExpectedGain const& gain, std::string const& backend);

}  // namespace dlmb::tuning

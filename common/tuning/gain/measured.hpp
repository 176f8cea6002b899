// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a table gains where it was not made: its choices against the backend's default and against the fastest method,
// all of them timed in the same launches. Launches differ from each other by more than a table gains, so every figure
// is a ratio within a launch, and launches are what is averaged.
#pragma once

#include "common/tuning/build/observation.hpp"
#include "common/tuning/build/paired_test.hpp"
#include "common/tuning/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// At one size of one place, inside one backend.
struct SizeGain {
    std::string scope;
    Place place;
    Bytes bytes = 0;        // in basis_of(operation)
    std::string choice;     // method that the table picks; "default" where it leaves the default
    double default_ns = 0;  // median over launches
    double choice_ns = 0;   // median over launches
    Ratio speedup;          // default / choice; 1 exactly where the table leaves the default
    std::string best;       // fastest method, of those that at least half as many launches have
    double regret = 1;      // choice / best, at least 1
    std::uint64_t launches = 0;
};

/// Ordered by scope, place and size. Throws UsageError where the table picks a method that was not measured.
[[nodiscard]] std::vector<SizeGain> measured_gains(TuningTable const& table, std::vector<Observation> const& fresh);

/// Geometric means over sizes; there is at least one.
struct GainSummary {
    double speedup = 1;
    double speedup_least = 1;
    double regret = 1;
    double regret_most = 1;
};
[[nodiscard]] GainSummary summary_of(std::span<SizeGain const> sizes);

}  // namespace dlmb::tuning

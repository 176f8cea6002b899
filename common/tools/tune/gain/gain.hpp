// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The gain of a table: measured on fresh launches, or expected for a workload from the evidence of its rules alone.
#pragma once

#include "common/base/statistics/rank_test.hpp"
#include "common/tools/tune/build/next_sweep.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlmb::tuning {

// The traffic of a workload, as questions to a table.

/// One kind of operation at one size; `memory` is empty, a plan does not know it.
struct Demand {
    Conditions conditions;
    Bytes bytes = 0;  // in basis_of(operation); of an exchange the mean over its ranks
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Demand const&) const = default;
};

/// Demand -> how often a rank does it in an iteration, mean over all ranks of the plan. A message counts at its sender.
using Traffic = std::map<Demand, double>;

/// Reads the plans of a file, or of a folder, and takes the mean over their iterations. Barriers, gathers and scatters
/// are passed over: tables have no rules for them. Throws UsageError: no such file, or no plans.
[[nodiscard]] Traffic read_traffic(std::filesystem::path const& plan);

/// At one size and under one set of conditions, inside one backend: the table's choice against the backend's default
/// and against the fastest method, all of them timed in the same launches. Launches differ from each other by more than
/// a table gains, so every figure is a ratio within a launch, and launches are what is averaged.
struct SizeGain {
    std::string scope;
    Conditions conditions;
    Bytes bytes = 0;            // in basis_of(operation)
    std::string choice;         // method that the table picks; "default" where it leaves the default
    double default_ns = 0;      // median over launches
    double choice_ns = 0;       // median over launches
    statistics::Ratio speedup;  // default / choice; 1 exactly where the table leaves the default
    std::string best;           // fastest method, of those that at least half as many launches have
    double regret = 1;          // choice / best, at least 1
    std::uint64_t launches = 0;
};

/// Ordered by scope, conditions and size. Throws UsageError where the table picks a method that was not measured.
[[nodiscard]] std::vector<SizeGain> measured_gains(TuningTable const& table, std::vector<Observation> const& fresh);

/// Geometric means over sizes; there is at least one.
struct GainSummary {
    double speedup = 1;
    double speedup_least = 1;
    double regret = 1;
    double regret_most = 1;
};
[[nodiscard]] GainSummary summary_of(std::span<SizeGain const> sizes);

/// One line of a workload. Nothing is measured here, and what a workload overlaps or waits for is not known.
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

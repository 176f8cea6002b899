// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts that are printed instead of measuring: --version, --list-presets, and --plan, the plans and the traffic matrix
// of all ranks, computed in this process. Needs neither MPI nor a GPU.
#pragma once

#include "common/formats/plan/plan_source.hpp"
#include "common/run/options/options.hpp"
#include "common/run/sweep.hpp"
#include "patterns/pattern.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dlmb::run {

[[nodiscard]] std::string version_text(std::string_view program);
[[nodiscard]] std::string preset_table(PatternType const& type);

/// The plans of all ranks at one point of a sweep.
struct PlannedPoint {
    SweepPoint point;
    WorldShape world;
    Draw draw;
    std::unique_ptr<Pattern> pattern;
    PlanSource plans;  // of `pattern`; checked against each other where all of them fit into memory
};

/// Throws UsageError when the options name more than one point; the text starts with `who`, which asks.
[[nodiscard]] PlannedPoint planned_point(PatternType const& type, Options const& options, std::string_view who);

/// Writes the plans rank by rank. Throws UsageError when the options name more than one point, before anything is
/// written.
void print_plans(PatternType const& type, Options const& options, TextSink const& sink);

}  // namespace dlmb::run

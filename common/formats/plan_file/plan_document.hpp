// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The object of `--plan json` (results-schema/plan.schema.json): the plans of all ranks for other programs to read.
// Peers, groups and roots are world ranks; offsets and buffers stay inside.
#pragma once

#include "common/base/philox.hpp"
#include "common/formats/plan/plan_source.hpp"
#include "common/formats/plan/world.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace dlmb::record {

inline constexpr char const* plan_schema = "dlmb.plan/1.1";

struct PlanHeader {
    std::string pattern;
    std::string preset;  // may be empty
    std::map<std::string, std::string> parameters;
    WorldShape world;
    Draw draw;
    std::map<std::string, double> statistics;
    /// When a step of a rank began and how long it took in the run that the plans were made of; may be empty.
    std::function<std::optional<std::pair<Nanoseconds, Nanoseconds>>(Rank, StepId)> recorded = nullptr;
};

/// One line per plan, so that the text can also be read by eye and compared by line. Written plan by plan.
void write_plan_document(PlanHeader const& header, PlanSource const& plans, TextSink const& sink);
[[nodiscard]] std::string plan_document(PlanHeader const& header, PlanSource const& plans);

}  // namespace dlmb::record

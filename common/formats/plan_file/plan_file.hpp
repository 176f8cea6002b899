// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the plans that --plan json and dlmb_trace import write (results-schema/plan.schema.json), rank by rank: of a
// file of any length, plain or compressed, no more than the plan of one rank is held.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/formats/plan/world.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

inline constexpr std::size_t most_steps = 1'000'000;  // of one rank, here and in what dlmb_trace import writes

/// What is known of a plan document once it has been read to its end.
struct PlanFile {
    std::string name;  // the file, in an archive its member
    std::string pattern;
    std::string preset;                             // may be empty
    std::map<std::string, std::string> parameters;  // as record::parameter_text() has them
    WorldShape world;
    std::uint64_t seed = 0;                    // of the draw
    std::map<std::string, double> statistics;  // of the traffic
};

/// Of each document: `plan` for the plan of each rank in the order of ranks, then `end`. A plan has no buffers yet: all
/// its regions begin at 0 of buffer 0. False of either ends the reading.
struct PlanVisitor {
    std::function<bool(Plan plan)> plan;
    std::function<bool(PlanFile const& file)> end;
};

/// The documents in `path` in the order of their names: a file, or the files of a folder or an archive. Throws
/// UsageError that names the file, the rank and the step for what is no plan. Whether the plans of several ranks fit
/// together is not looked at.
void read_plans(std::filesystem::path const& path, PlanVisitor const& visitor);

/// The header of a document that stands in `text`, which may end inside its plans. `name`: for messages.
[[nodiscard]] PlanFile read_plan_header(std::string const& name, std::string_view text);

struct PlanDocument {
    PlanFile file;
    std::vector<Plan> plans;  // by rank, with buffers that all steps share
};

/// One document, which validate() accepts. `path` "-": standard input. Throws UsageError, also where the ranks do not
/// fit together.
[[nodiscard]] PlanDocument read_plan_document(std::filesystem::path const& path);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plan files: JSON Lines (results-schema/plan.schema.json). A line that says what the plans are of, a line per group
// before the first rank that has it, and per rank one line or several with its steps. Everything that a plan holds is
// in the file, and a file that was written is read back as the same plans. Writer and reader hold one line at a time.
#pragma once

#include "common/base/philox.hpp"
#include "common/formats/plan/plan_source.hpp"
#include "common/formats/plan/world.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb {

namespace input {
class Input;
}

inline constexpr char const* plan_schema = "dlmb.plan/2.0";
inline constexpr char const* plan_object_schema = "dlmb.plan/1.2";
inline constexpr std::size_t most_steps = 1'000'000;  // of one rank, here and in what dlmb_plan import writes
inline constexpr int most_channels = 1 << 29;         // and batches: an overlay adds those of two plans

/// The first line.
struct PlanHeader {
    std::string pattern;
    std::string preset;                             // may be empty
    std::map<std::string, std::string> parameters;  // as record::parameter_text() has them
    WorldShape world;
    Draw draw;
    std::map<std::string, double> statistics;  // of the traffic
    std::string file = {};                     // that it was read from, in an archive its member; is not written
};

/// When a step of a rank began and how long it took in the run that the plans were made of.
using RecordedStep = std::function<std::optional<std::pair<Nanoseconds, Nanoseconds>>(Rank, StepId)>;

/// Writes plans in the order in which they come, which readers want to be that of ranks.
class PlanWriter {
public:
    PlanWriter(PlanHeader const& header, TextSink sink, RecordedStep recorded = nullptr);
    void write(Plan const& plan);

private:
    TextSink sink_;
    RecordedStep recorded_;
    std::map<std::vector<Rank>, std::size_t> groups_;  // number in the file, by members
};

void write_plans(PlanHeader const& header, PlanSource const& plans, TextSink const& sink,
                 RecordedStep const& recorded = nullptr);
/// One JSON document, for scripts; no program of this project reads it. It has the fields of the header, and "plans", a
/// list of {"rank", "steps"}. Steps have the fields of the lines with two differences: "group" lists world ranks, and
/// messages stand in the lists "send" and "recv". The list of buffers is left out.
void write_plan_object(PlanHeader const& header, PlanSource const& plans, TextSink const& sink);
/// The text of a file.
[[nodiscard]] std::string plan_lines(PlanHeader const& header, PlanSource const& plans,
                                     RecordedStep const& recorded = nullptr);

/// `begin` for each header, then `plan` for the plan of each rank in the order of ranks. False of either ends the
/// reading. A file of another program may leave out buffers; all regions of such a plan begin at 0 of buffer 0, and
/// with_buffers() lays it out.
struct PlanVisitor {
    std::function<bool(PlanHeader header)> begin;
    std::function<bool(Plan plan)> plan;
};

/// The plans in `path` ("-": standard input): of a file, or of the files of a folder or an archive by name, plain or
/// compressed. A header behind the last rank begins other plans, of another iteration. Throws UsageError that names the
/// file, the line and the step for what is no plan. Each plan is sound by itself (validate_rank()) where it has
/// buffers; whether the plans of several ranks fit together is not looked at.
void read_plans(std::filesystem::path const& path, PlanVisitor const& visitor);
/// The same of one file that is open. False of a visitor ends the reading of this file.
void read_plans(input::Input& file, PlanVisitor const& visitor);

/// The header in the first line of `text`. `name`: for messages.
[[nodiscard]] PlanHeader read_plan_header(std::string const& name, std::string_view text);

struct PlanFile {
    PlanHeader header;
    std::vector<Plan> plans;  // by rank, with buffers
};

/// The plans of one iteration, which validate() accepts. Throws UsageError, also where the ranks do not fit together.
[[nodiscard]] PlanFile read_plan_file(std::filesystem::path const& path);

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/printouts.hpp"

#include "common/base/error.hpp"
#include "common/base/version.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/run/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace dlmb::run {

std::string version_text(std::string_view program) {
    BuildInfo const& build = build_info();
    return fmt::format("{} {} ({}, {}, {})\n", program, build.version, build.git_revision, build.compiler,
                       build.build_type);
}

std::string preset_table(PatternType const& type) {
    std::vector<Preset> const presets = presets_of(type);
    if (presets.empty()) {
        return fmt::format("dlmb_{} has no presets; --help lists its parameters\n", type.name);
    }
    std::string text;
    for (Preset const& preset : presets) {
        std::vector<std::string> values;
        for (auto const& [name, value] : preset.values) {
            values.push_back(fmt::format("{}={}", name, value));
        }
        text += fmt::format("{:<24} {}\n{:<24} source: {}\n", preset.name, fmt::join(values, " "), "", preset.source);
    }
    return text;
}

namespace {

constexpr int usual_ranks_per_node = 8;

WorldShape world_of(Options const& options) {
    return {options.ranks, options.ranks_per_node.value_or(std::min(options.ranks, usual_ranks_per_node))};
}

std::map<std::string, double> statistics_over_ranks(Pattern const& pattern, WorldShape const& world, Draw draw) {
    std::vector<std::uint64_t> summed;
    for (Rank rank = 0; rank < world.ranks; ++rank) {
        std::vector<std::uint64_t> const mine = pattern.setup_of(rank, draw).statistics;
        summed.resize(std::max(summed.size(), mine.size()));
        std::transform(mine.begin(), mine.end(), summed.begin(), summed.begin(), std::plus<>{});
    }
    std::map<std::string, double> values;
    for (Statistic const& statistic : pattern.statistics(summed)) {
        values[statistic.name] = statistic.value;
    }
    return values;
}

/// Number of group members, blocks and steps in the plan of one rank.
std::size_t entries_of(Plan const& plan) {
    std::size_t entries = plan.steps.size();
    for (Group const& group : plan.groups) {
        entries += group.members.size();
    }
    for (Step const& step : plan.steps) {
        entries += sent_blocks(step.operation).size() + received_blocks(step.operation).size();
    }
    return entries;
}

constexpr std::size_t most_entries_at_once = std::size_t{1} << 24;  // of 4 to 40 B: some hundred MB of plans

void require_consistent(std::string const& what, std::vector<PlanProblem> const& problems) {
    if (!problems.empty()) {
        throw Error(fmt::format("{}: inconsistent plans: {}", what, problems.front().text));
    }
}

/// Where the plans of all ranks fit into memory, they are checked against each other when the first one is asked for: a
/// reader of nothing but the header waits for none. Elsewhere each is checked on its own. Rank 0 speaks for the sizes
/// of the others, and for what a pattern refuses.
PlanSource checked(std::string const& what, PlanSource const& plans) {
    bool const together = plans.ranks() == 0 || entries_of(plans.of(0)) <= most_entries_at_once / plans.ranks();
    return {plans.ranks(), [what, plans, together, all = std::make_shared<std::vector<Plan>>()](Rank rank) {
                if (!together) {
                    Plan plan = plans.of(rank);
                    require_consistent(what, validate_rank(plan));
                    return plan;
                }
                if (all->empty()) {
                    plans.each([&](Plan const& plan) { all->push_back(plan); });
                    require_consistent(what, validate(*all));
                }
                return (*all)[static_cast<std::size_t>(rank)];
            }};
}

SweepPoint planned_point(PatternType const& type, Options options, WorldShape const& world) {
    options.memory = {MemoryKind::host};  // in which the plans are the same as in any other
    std::vector<SweepPoint> const points = expand_sweep(type, options, options.ranks);
    if (points.size() != 1) {
        throw UsageError(
            fmt::format("--plan: takes one point, the options name {}; give one preset and one value each (of sizes "
                        "N:N)",
                        points.size()));
    }
    return resolved_in(type, points, world).front();
}

}  // namespace

void print_plans(PatternType const& type, Options const& options, TextSink const& sink) {
    WorldShape const world = world_of(options);
    SweepPoint const point = planned_point(type, options, world);
    Draw const draw{options.seed, 0};
    std::unique_ptr<Pattern> const pattern = make_pattern(type, point, world);
    PlanSource const plans = checked(fmt::format("{} {}", type.name, point.title), plans_of(*pattern, world, draw));
    if (*options.plan == PlanFormat::goal) {
        write_goal(plans, sink);
        return;
    }
    if (*options.plan == PlanFormat::dot) {
        write_dot(plans, sink);
        return;
    }
    std::map<std::string, double> const statistics = statistics_over_ranks(*pattern, world, draw);
    if (*options.plan == PlanFormat::jsonl || *options.plan == PlanFormat::json) {
        Parameters const& parameters = point.parameters;
        PlanHeader const header{
            std::string(type.name), point.preset, {parameters.begin(), parameters.end()}, world, draw, statistics};
        *options.plan == PlanFormat::jsonl ? write_plans(header, plans, sink) : write_plan_object(header, plans, sink);
        return;
    }
    sink(fmt::format("{}\n", point.title));
    if (!point.derived.empty()) {
        sink(fmt::format("{}\n", point.derived));
    }
    for (std::string const& remark : pattern->remarks()) {
        sink(fmt::format("note: {}\n", remark));
    }
    for (auto const& [name, value] : pattern->resolved()) {
        sink(fmt::format("  --{:<22} {}\n", name, value));
    }
    for (auto const& [name, value] : statistics) {
        sink(fmt::format("  {:<24} {:.4g}\n", name, value));
    }
    sink("\n");
    sink(to_text(plans));
}

}  // namespace dlmb::run

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/printouts.hpp"

#include "common/app/sweep.hpp"
#include "common/base/error.hpp"
#include "common/base/version.hpp"
#include "common/plan/plan_text.hpp"
#include "common/plan/validate.hpp"
#include "common/record/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::app {

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

std::string text_of(SweepPoint const& point, std::map<std::string, double> const& statistics,
                    std::vector<Plan> const& plans) {
    std::string text = fmt::format("{}\n", point.title);
    for (auto const& [name, value] : statistics) {
        text += fmt::format("  {:<24} {:.4g}\n", name, value);
    }
    return text + "\n" + to_text(plans);
}

}  // namespace

std::string plan_printout(PatternType const& type, Options const& options) {
    Options in_any_memory = options;
    in_any_memory.memory = {MemoryKind::host};
    std::vector<SweepPoint> const points = expand_sweep(type, in_any_memory, options.ranks);
    if (points.size() != 1) {
        throw UsageError(
            fmt::format("--plan: prints one point, the options name {}; give one preset and one value each (of "
                        "sizes N:N)",
                        points.size()));
    }
    SweepPoint const& point = points.front();
    WorldShape const world = world_of(options);
    Draw const draw{options.seed, 0};
    std::unique_ptr<Pattern> const pattern = type.make(point.parameters, world);
    std::vector<Plan> const plans = build_all(*pattern, world, draw);
    std::vector<Problem> const problems = validate(plans);
    if (!problems.empty()) {
        throw Error(fmt::format("{} {}: inconsistent plans: {}", type.name, point.title, problems.front().text));
    }
    if (*options.plan == PlanFormat::goal) {
        return to_goal(plans);
    }
    std::map<std::string, double> const statistics = statistics_over_ranks(*pattern, world, draw);
    if (*options.plan == PlanFormat::text) {
        return text_of(point, statistics, plans);
    }
    return record::plan_document({std::string(type.name),
                                  point.preset,
                                  {point.parameters.begin(), point.parameters.end()},
                                  world,
                                  draw,
                                  statistics},
                                 plans);
}

}  // namespace dlmb::app

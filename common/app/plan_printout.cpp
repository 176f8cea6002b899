// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/plan_printout.hpp"

#include "common/app/sweep.hpp"
#include "common/base/error.hpp"
#include "common/plan/goal.hpp"
#include "common/plan/plan_text.hpp"
#include "common/plan/validate.hpp"
#include "common/record/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::app {
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

std::string text_of(Variant const& variant, std::map<std::string, double> const& statistics,
                    std::vector<Plan> const& plans) {
    std::string text = fmt::format("{}\n", variant.title);
    for (auto const& [name, value] : statistics) {
        text += fmt::format("  {:<24} {:.4g}\n", name, value);
    }
    return text + "\n" + to_text(plans);
}

}  // namespace

std::string plan_printout(PatternType const& type, Options const& options) {
    std::vector<Variant> const variants = expand_sweep(type, options);
    if (variants.size() != 1) {
        throw UsageError(
            fmt::format("--plan: prints one point, the options name {}; give one preset and one value each (of "
                        "sizes N:N)",
                        variants.size()));
    }
    Variant const& variant = variants.front();
    WorldShape const world = world_of(options);
    Draw const draw{options.seed, 0};
    std::unique_ptr<Pattern> const pattern = type.make(variant.parameters, world);
    std::vector<Plan> const plans = build_all(*pattern, world, draw);
    std::vector<Problem> const problems = validate(plans);
    if (!problems.empty()) {
        throw Error(fmt::format("{} {}: inconsistent plans: {}", type.name, variant.title, problems.front().text));
    }
    if (*options.plan == PlanFormat::goal) {
        return to_goal(plans);
    }
    std::map<std::string, double> const statistics = statistics_over_ranks(*pattern, world, draw);
    if (*options.plan == PlanFormat::text) {
        return text_of(variant, statistics, plans);
    }
    return record::plan_document({std::string(type.name),
                                  variant.preset,
                                  {variant.parameters.begin(), variant.parameters.end()},
                                  world,
                                  draw,
                                  statistics},
                                 plans);
}

}  // namespace dlmb::app

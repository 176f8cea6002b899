// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/validate.hpp"

#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace dlmb {
namespace {

/// Ranks out of order or groups beyond the world make every later message misleading.
void check_world(std::span<Plan const> all_ranks, validation::Problems& problems) {
    auto const ranks = static_cast<Rank>(all_ranks.size());
    for (Rank rank = 0; rank < ranks; ++rank) {
        Plan const& plan = all_ranks[static_cast<std::size_t>(rank)];
        if (plan.me != rank) {
            problems.push_back({rank, 0, fmt::format("the plan of rank {} says that it is of rank {}", rank, plan.me)});
        }
        for (std::size_t id = 0; id < plan.groups.size(); ++id) {
            for (Rank const member : plan.groups[id].members) {
                if (member >= ranks) {
                    problems.push_back(
                        {rank, 0,
                         fmt::format("rank {} group {} names rank {} of a world of {}", rank, id, member, ranks)});
                }
            }
        }
    }
}

}  // namespace

namespace validation {

std::string name_of(Plan const& plan, StepId step) {
    return fmt::format("rank {} step {} \"{}\"", plan.me, step, plan.steps[step].label);
}

void report(Problems& problems, Plan const& plan, StepId step, std::string_view text) {
    problems.push_back({plan.me, step, fmt::format("{} {}", name_of(plan, step), text)});
}

}  // namespace validation

std::vector<Problem> validate_rank(Plan const& plan) {
    std::vector<Problem> problems;
    validation::check_groups(plan, problems);
    validation::check_steps(plan, problems);
    if (problems.empty()) {
        validation::check_batches(plan, problems);
        validation::check_regions(plan, problems);
    }
    return problems;
}

std::vector<Problem> validate(std::span<Plan const> all_ranks) {
    std::vector<Problem> problems;
    check_world(all_ranks, problems);
    for (Plan const& plan : all_ranks) {
        std::vector<Problem> own = validate_rank(plan);
        std::move(own.begin(), own.end(), std::back_inserter(problems));
    }
    if (!problems.empty()) {
        return problems;
    }
    GroupIndex const index(all_ranks);
    std::vector<validation::MatchedSteps> matches = validation::match_collectives(all_ranks, index, problems);
    std::vector<validation::MatchedSteps> messages = validation::match_messages(all_ranks, index, problems);
    if (problems.empty()) {
        std::move(messages.begin(), messages.end(), std::back_inserter(matches));
        validation::check_deadlock(all_ranks, matches, problems);
    }
    return problems;
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/step_tags.hpp"

#include "common/plan/group_index.hpp"

#include <algorithm>
#include <utility>

namespace dlmb {

StepTags::StepTags(PlanSource const& plans) {
    std::vector<std::pair<Tag*, std::size_t>> groups;  // their first tag, and how many tags each needs
    Tag next = 0;
    plans.each([&](Plan const& plan) {
        std::vector<std::size_t> counts(plan.groups.size(), 0);
        for (Step const& step : plan.steps) {
            if (auto const* send = std::get_if<Send>(&step.operation)) {
                next = std::max(next, static_cast<Tag>(send->channel) + 1);
            }
            if (auto const group = collective_group(step.operation)) {
                ++counts.at(*group);
            }
        }
        for (std::size_t group = 0; group < plan.groups.size(); ++group) {
            auto const [place, added] = first_.try_emplace(plan.groups[group].members, 0);
            if (added) {
                groups.emplace_back(&place->second, counts[group]);
            }
        }
    });
    for (auto const& [first, count] : groups) {
        *first = std::exchange(next, next + count);
    }
}

std::vector<Tag> StepTags::of(Plan const& plan) const {
    std::vector<Tag> next;
    for (Group const& group : plan.groups) {
        next.push_back(first_.at(group.members));
    }
    std::vector<Tag> tags;
    for (Step const& step : plan.steps) {
        auto const group = collective_group(step.operation);
        tags.push_back(group ? next.at(*group)++ : 0);
    }
    return tags;
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/arrivals.hpp"

namespace dlmb {
namespace {

bool only_watches_the_clock(Step const& step) {
    auto const* const compute = std::get_if<Compute>(&step.operation);
    return compute != nullptr && !compute->product && !compute->uninterrupted && !compute->conversion &&
           !compute->rearrangement;
}

}  // namespace

std::optional<StepId> timer_before(Plan const& plan, StepId step) {
    Step const& later = plan.steps.at(step);
    bool const is_one = later.after.size() == 1 && only_watches_the_clock(later) &&
                        only_watches_the_clock(plan.steps.at(later.after.front()));
    return is_one ? std::optional(later.after.front()) : std::nullopt;
}

std::vector<std::optional<Nanoseconds>> planned_ends(Plan const& plan) {
    std::vector<std::optional<Nanoseconds>> ends(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        if (!only_watches_the_clock(step)) {
            continue;
        }
        auto const before = timer_before(plan, id);
        std::optional<Nanoseconds> const begin = before               ? ends[*before]
                                                 : step.after.empty() ? std::optional<Nanoseconds>(0)
                                                                      : std::nullopt;
        if (begin) {
            ends[id] = *begin + std::get<Compute>(step.operation).busy_ns;
        }
    }
    return ends;
}

}  // namespace dlmb

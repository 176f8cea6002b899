// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/part.hpp"

#include <algorithm>
#include <utility>

namespace dlmb {

Plan part_of(Plan const& whole, std::span<StepId const> steps) {
    Plan plan{whole.me, whole.groups, whole.buffers, {}};
    plan.steps.reserve(steps.size());
    for (StepId const step : steps) {
        Step copy = whole.steps[step];
        std::vector<StepId> after;
        for (StepId const earlier : copy.after) {
            auto const place = std::lower_bound(steps.begin(), steps.end(), earlier);
            if (place != steps.end() && *place == earlier) {
                after.push_back(static_cast<StepId>(place - steps.begin()));
            }
        }
        copy.after = std::move(after);
        plan.steps.push_back(std::move(copy));
    }
    return plan;
}

}  // namespace dlmb

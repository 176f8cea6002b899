// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace dlmb::tuned {

std::string name_of(StepChoice const& choice) {
    return fmt::format("{}/{}", choice.backend, to_string(choice.method));
}

std::vector<Part> cut(Plan const& plan, std::vector<StepChoice> const& choices) {
    std::vector<Part> parts;
    std::vector<StepId> leading;  // Compute steps before anybody communicates
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (std::holds_alternative<Compute>(plan.steps[step].operation)) {
            (parts.empty() ? leading : parts.back().steps).push_back(step);
            continue;
        }
        if (parts.empty() || name_of(parts.back().choice) != name_of(choices[step])) {
            parts.push_back({choices[step], std::exchange(leading, {})});
        }
        parts.back().steps.push_back(step);
    }
    return parts;
}

Plan plan_of(Plan const& whole, Part const& part) {
    Plan plan{whole.me, whole.groups, whole.buffers, {}};
    plan.steps.reserve(part.steps.size());
    for (StepId const step : part.steps) {
        Step copy = whole.steps[step];
        std::vector<StepId> after;
        for (StepId const earlier : copy.after) {
            auto const place = std::lower_bound(part.steps.begin(), part.steps.end(), earlier);
            if (place != part.steps.end() && *place == earlier) {
                after.push_back(static_cast<StepId>(place - part.steps.begin()));
            }
        }
        copy.after = std::move(after);
        plan.steps.push_back(std::move(copy));
    }
    return plan;
}

}  // namespace dlmb::tuned

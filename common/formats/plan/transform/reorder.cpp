// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/transform/transform.hpp"

#include <algorithm>

namespace dlmb {
namespace {

bool is_computation(Step const& step) {
    return std::holds_alternative<Compute>(step.operation);
}

/// The steps in their new order.
std::vector<StepId> operations_first(Plan const& plan) {
    std::vector<StepId> order;
    std::vector<StepId> computations;
    std::vector<std::size_t> needed(plan.steps.size());  // how many computations come before a step in any order
    std::size_t placed = 0;
    auto const place_computations = [&](std::size_t count) {
        for (; placed < count; ++placed) {
            order.push_back(computations[placed]);
        }
    };
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        for (StepId const earlier : plan.steps[step].after) {
            needed[step] = std::max(needed[step], needed[earlier]);
        }
        if (is_computation(plan.steps[step])) {
            computations.push_back(step);
            needed[step] = computations.size();
        } else {
            place_computations(needed[step]);
            order.push_back(step);
        }
    }
    place_computations(computations.size());
    return order;
}

}  // namespace

bool computes(Plan const& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), is_computation);
}

Plan reorder(Plan const& plan) {
    std::vector<StepId> const order = operations_first(plan);
    std::vector<StepId> place_of(order.size());
    for (StepId place = 0; place < order.size(); ++place) {
        place_of[order[place]] = place;
    }
    Plan result = plan;
    for (StepId place = 0; place < order.size(); ++place) {
        result.steps[place] = plan.steps[order[place]];
        for (StepId& earlier : result.steps[place].after) {
            earlier = place_of[earlier];
        }
        std::sort(result.steps[place].after.begin(), result.steps[place].after.end());
    }
    return result;
}

}  // namespace dlmb

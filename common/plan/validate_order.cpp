// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps of one batch go into one native call, so they must become ready together.
#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace dlmb::validation {
namespace {

int batch_of(Operation const& operation) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return send->batch;
    }
    auto const* recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? -1 : recv->batch;
}

bool wait_alike(Step const& a, Step const& b) {
    return std::is_permutation(a.after.begin(), a.after.end(), b.after.begin(), b.after.end());
}

}  // namespace

void check_batches(Plan const& plan, Problems& problems) {
    std::map<int, StepId> batches;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        int const batch = batch_of(plan.steps[step].operation);
        if (batch < 0) {
            continue;
        }
        auto const [place, is_first] = batches.try_emplace(batch, step);
        if (!is_first && !wait_alike(plan.steps[step], plan.steps[place->second])) {
            report(problems, plan, step,
                   fmt::format("is in batch {} with {}, but does not wait for the same steps", batch,
                               name_of(plan, place->second)));
        }
    }
}

}  // namespace dlmb::validation

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/translate.hpp"

#include "common/backends/mpi/staged_translator.hpp"
#include "common/plan/group_index.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace dlmb::mpi {

// Making a graph communicator or a persistent collective is collective over its group. Group by group, sorted by
// members, all ranks that share groups come to them in one order; the steps of a group keep theirs.
std::vector<StepId> collective_order(Plan const& plan) {
    std::vector<StepId> order(plan.steps.size());
    std::iota(order.begin(), order.end(), StepId{0});
    std::vector<Rank> const none;
    auto const members = [&](StepId step) -> std::vector<Rank> const& {
        auto const id = collective_group(plan.steps[step].operation);
        return id ? plan.groups.at(*id).members : none;
    };
    std::stable_sort(order.begin(), order.end(), [&](StepId a, StepId b) { return members(a) < members(b); });
    return order;
}

namespace {

Task compute_task(Compute const& step, Place const& place) {
    if (place.queues != nullptr) {
        return DeviceBusy(step, place.queues->compute, place.idle);
    }
    return Busy(step);
}

}  // namespace

std::vector<Task> translate(TranslatedPlan const& shared, Place const& place) {
    Plan const& plan = shared.plan;
    NativeTranslator native(shared, place.buffers, place.queues == nullptr ? nullptr : &place.queues->within);
    std::optional<StagedTranslator> staged;
    if (place.host != nullptr) {
        staged.emplace(shared, place.buffers, *place.host, *place.queues, place.idle);
    }
    std::vector<std::optional<Task>> by_step(plan.steps.size());
    for (StepId const step : collective_order(plan)) {
        Operation const& operation = plan.steps[step].operation;
        if (auto const* compute = std::get_if<Compute>(&operation)) {
            by_step[step].emplace(compute_task(*compute, place));
        } else if (staged) {
            by_step[step].emplace((*staged)(step));
        } else {
            by_step[step].emplace(as_task(std::visit(native, operation)));
        }
    }
    std::vector<Task> tasks;
    tasks.reserve(by_step.size());
    for (std::optional<Task>& task : by_step) {
        tasks.push_back(std::move(*task));
    }
    return tasks;
}

}  // namespace dlmb::mpi

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Backends post waves in order; ranks are matched in plan order. For steps that a library pairs up by their order
// (collectives of a group, messages of a channel) the two orders must be one.
#include "common/plan/validation.hpp"
#include "common/plan/waves.hpp"

#include <fmt/core.h>

#include <map>
#include <tuple>

namespace dlmb::validation {
namespace {

enum class Kind : std::uint8_t { nothing, collective, send, recv };

/// Steps with equal keys are paired by order: kind, world rank of the peer or group of the collective, channel.
using OrderKey = std::tuple<Kind, std::int64_t, int>;

struct KeyOf {
    Plan const& plan;
    OrderKey operator()(Send const& step) const {
        return {Kind::send, world_rank(step.group, step.to.peer), step.channel};
    }
    OrderKey operator()(Recv const& step) const {
        return {Kind::recv, world_rank(step.group, step.from.peer), step.channel};
    }
    OrderKey operator()(Compute const& /*step*/) const { return {Kind::nothing, 0, 0}; }
    template <class Collective>
    OrderKey operator()(Collective const& step) const {
        return {Kind::collective, step.group, 0};
    }
    [[nodiscard]] Rank world_rank(GroupId group, Rank peer) const {
        return plan.groups[group].members[static_cast<std::size_t>(peer)];
    }
};

int batch_of(Operation const& operation) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return send->batch;
    }
    auto const* recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? -1 : recv->batch;
}

}  // namespace

void check_posting_order(Plan const& plan, Problems& problems) {
    std::vector<std::uint32_t> const wave = wave_of_steps(plan);
    std::map<OrderKey, StepId> latest;
    std::map<int, StepId> batches;
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        auto const step = static_cast<StepId>(id);
        Operation const& operation = plan.steps[id].operation;
        if (!std::holds_alternative<Compute>(operation)) {
            auto const [place, first] = latest.try_emplace(std::visit(KeyOf{plan}, operation), step);
            if (!first && wave[id] < wave[place->second]) {
                report(problems, plan, step,
                       fmt::format("would be posted before {}, which stands before it on the same group or channel",
                                   name_of(plan, place->second)));
            }
            place->second = step;
        }
        if (int const batch = batch_of(operation); batch >= 0) {
            auto const [place, first] = batches.try_emplace(batch, step);
            if (!first && wave[id] != wave[place->second]) {
                report(problems, plan, step,
                       fmt::format("is in batch {} with {}, but not in the same wave", batch,
                                   name_of(plan, place->second)));
            }
        }
    }
}

}  // namespace dlmb::validation

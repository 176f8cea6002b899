// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/ready_queue.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace dlmb {
namespace {

/// Steps with equal keys are paired by their order: kind, group of the collective or world rank of the peer, channel.
using OrderKey = std::tuple<OperationKind, std::int64_t, int>;

std::optional<OrderKey> order_key(Plan const& plan, Operation const& operation) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return OrderKey{OperationKind::send, world_rank(plan, send->group, send->to.peer), send->channel};
    }
    if (auto const* recv = std::get_if<Recv>(&operation)) {
        return OrderKey{OperationKind::recv, world_rank(plan, recv->group, recv->from.peer), recv->channel};
    }
    // One kind for all collectives: a group has one order of them. Signals need none: each has a flag of its own.
    auto const group = collective_group(operation);
    return group ? std::optional(OrderKey{OperationKind::exchange, *group, 0}) : std::nullopt;
}

}  // namespace

Precedence precedence_of(Plan const& plan) {
    Precedence precedence;
    precedence.complete.resize(plan.steps.size());
    precedence.started.resize(plan.steps.size());
    std::map<OrderKey, StepId> latest;
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        for (StepId const earlier : step.after) {
            if (earlier >= id) {
                throw Error(fmt::format("rank {} step {} \"{}\" waits for step {}, which is not an earlier one",
                                        plan.me, id, step.label, earlier));
            }
        }
        precedence.complete[id] = step.after;
        if (auto const key = order_key(plan, step.operation)) {
            auto const [place, is_first] = latest.try_emplace(*key, id);
            if (!is_first) {
                precedence.started[id].push_back(place->second);
                place->second = id;
            }
        }
    }
    return precedence;
}

bool is_chain(Plan const& plan) {
    for (StepId id = 1; id < plan.steps.size(); ++id) {
        std::vector<StepId> const& after = plan.steps[id].after;
        if (std::find(after.begin(), after.end(), id - 1) == after.end()) {
            return false;
        }
    }
    return true;
}

std::size_t longest_chain(Plan const& plan) {
    std::vector<std::size_t> up_to;
    for (Step const& step : plan.steps) {
        std::size_t before = 0;
        for (StepId const earlier : step.after) {
            before = std::max(before, up_to.at(earlier));
        }
        up_to.push_back(before + (std::holds_alternative<Compute>(step.operation) ? 0 : 1));
    }
    return up_to.empty() ? 0 : *std::max_element(up_to.begin(), up_to.end());
}

bool waits_for(Plan const& plan, StepId later, StepId earlier) {
    std::vector<StepId> open{later};
    std::vector<bool> seen(later + std::size_t{1}, false);
    while (!open.empty()) {
        StepId const step = open.back();
        open.pop_back();
        for (StepId const before : plan.steps[step].after) {
            if (before == earlier) {
                return true;
            }
            if (before > earlier && !seen[before]) {
                seen[before] = true;
                open.push_back(before);
            }
        }
    }
    return false;
}

ReadyQueue::Successors::Successors(std::vector<std::vector<std::uint32_t>> const& predecessors)
    : first(predecessors.size() + 1, 0) {
    for (std::vector<std::uint32_t> const& each : predecessors) {
        for (std::uint32_t const task : each) {
            ++first[task + std::size_t{1}];
        }
    }
    for (std::size_t task = 1; task < first.size(); ++task) {
        first[task] += first[task - 1];
    }
    tasks.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t later = 0; later < predecessors.size(); ++later) {
        for (std::uint32_t const task : predecessors[later]) {
            tasks[next[task]++] = static_cast<std::uint32_t>(later);
        }
    }
}

ReadyQueue::ReadyQueue(Precedence const& precedence)
    : after_completion_(precedence.complete), after_start_(precedence.started) {
    for (std::size_t task = 0; task < precedence.complete.size(); ++task) {
        waits_.push_back(
            static_cast<std::uint32_t>(precedence.complete[task].size() + precedence.started[task].size()));
    }
    left_.reserve(waits_.size());
    ready_.reserve(waits_.size());
}

void ReadyQueue::begin() {
    left_.assign(waits_.begin(), waits_.end());
    ready_.clear();
    taken_ = 0;
    completed_ = 0;
    for (std::uint32_t task = 0; task < waits_.size(); ++task) {
        if (waits_[task] == 0) {
            ready_.push_back(task);
        }
    }
}

}  // namespace dlmb

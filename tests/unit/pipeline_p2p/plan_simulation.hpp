// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Simulates plans of computations and messages with communication that takes no time: a message is complete when both
// ends have been reached. Knows nothing about schedules.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace dlmb::pipeline_p2p {

/// The end of every step, by rank and StepId.
class PlanSimulation {
public:
    explicit PlanSimulation(std::vector<Plan> const& plans) : plans_(plans) {
        std::map<std::tuple<Rank, Rank, int>, std::deque<std::pair<Rank, StepId>>> sends;
        for (Plan const& plan : plans) {
            ends_.emplace_back(plan.steps.size());
            for (StepId id = 0; id < plan.steps.size(); ++id) {
                if (auto const* send = std::get_if<Send>(&plan.steps[id].operation)) {
                    sends[{plan.me, member(plan, send->group, send->to.peer), send->channel}].push_back({plan.me, id});
                }
            }
        }
        for (Plan const& plan : plans) {
            for (StepId id = 0; id < plan.steps.size(); ++id) {
                if (auto const* recv = std::get_if<Recv>(&plan.steps[id].operation)) {
                    auto& queue = sends.at({member(plan, recv->group, recv->from.peer), plan.me, recv->channel});
                    partner_[{plan.me, id}] = queue.front();
                    partner_[queue.front()] = {plan.me, id};
                    queue.pop_front();
                }
            }
        }
        run();
    }

    [[nodiscard]] Nanoseconds makespan() const {
        Nanoseconds last = 0;
        for (auto const& ends : ends_) {
            for (auto const& end : ends) {
                last = std::max(last, end.value());
            }
        }
        return last;
    }
    [[nodiscard]] std::map<std::pair<Rank, StepId>, std::pair<Rank, StepId>> const& partners() const {
        return partner_;
    }

private:
    static Rank member(Plan const& plan, GroupId group, Rank peer) {
        return plan.groups[group].members[static_cast<std::size_t>(peer)];
    }
    [[nodiscard]] std::optional<Nanoseconds> ready(Rank rank, StepId id) const {
        Nanoseconds latest = 0;
        for (StepId const earlier : plans_[static_cast<std::size_t>(rank)].steps[id].after) {
            auto const& end = ends_[static_cast<std::size_t>(rank)][earlier];
            if (!end) {
                return std::nullopt;
            }
            latest = std::max(latest, *end);
        }
        return latest;
    }
    std::optional<Nanoseconds> end_of(Rank rank, StepId id) const {
        auto const own = ready(rank, id);
        if (auto const* compute = std::get_if<Compute>(&plans_[static_cast<std::size_t>(rank)].steps[id].operation)) {
            return own ? std::optional(*own + compute->busy_ns) : std::nullopt;
        }
        auto const [other_rank, other_id] = partner_.at({rank, id});
        auto const other = ready(other_rank, other_id);
        return own && other ? std::optional(std::max(*own, *other)) : std::nullopt;
    }
    void run() {
        std::size_t left = 0;
        for (Plan const& plan : plans_) {
            left += plan.steps.size();
        }
        while (left > 0) {
            std::size_t const before = left;
            for (Plan const& plan : plans_) {
                auto& ends = ends_[static_cast<std::size_t>(plan.me)];
                for (StepId id = 0; id < ends.size(); ++id) {
                    if (!ends[id] && (ends[id] = end_of(plan.me, id))) {
                        --left;
                    }
                }
            }
            if (left == before) {
                throw std::runtime_error("the plans wait for each other");
            }
        }
    }

    std::vector<Plan> const& plans_;
    std::vector<std::vector<std::optional<Nanoseconds>>> ends_;
    std::map<std::pair<Rank, StepId>, std::pair<Rank, StepId>> partner_;
};

}  // namespace dlmb::pipeline_p2p

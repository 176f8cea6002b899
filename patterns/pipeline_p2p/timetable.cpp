// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/timetable.hpp"

#include "patterns/pipeline_p2p/makespan.hpp"

#include <map>
#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

using Transfers = std::map<Nanoseconds, Transfer>;  // by the time at which they are issued

Work producer_of(TensorMessage const& incoming, int other_stage) {
    Pass const pass = incoming.direction == Direction::forward ? Pass::forward : Pass::backward;
    return {pass, incoming.pipe, other_stage, incoming.microbatch};
}

void add(Shape const& shape, Transfers& transfers, Work const& work, EndOf const& end_of) {
    if (work.pass == Pass::backward_weight) {
        return;
    }
    TensorMessage const input = input_of(work);
    if (auto const other = other_stage(shape, input)) {
        add_message(shape, transfers[end_of(producer_of(input, *other))], input);
    }
    add_message(shape, transfers[end_of(work)], output_of(work));
}

}  // namespace

std::vector<Action> with_transfers(Shape const& shape, std::span<TimedAction const> own, EndOf const& end_of) {
    Transfers transfers;
    for (TimedAction const& timed : own) {
        if (auto const* task = std::get_if<Task>(&timed.action)) {
            for (Work const& work : *task) {
                add(shape, transfers, work, end_of);
            }
        }
    }
    std::vector<Action> actions;
    auto next = transfers.begin();
    auto const issue_next = [&] {
        if (!next->second.empty()) {
            actions.emplace_back(std::move(next->second));
        }
        ++next;
    };
    for (TimedAction const& timed : own) {
        while (next != transfers.end() && next->first <= timed.slot) {
            issue_next();
        }
        actions.push_back(timed.action);
    }
    while (next != transfers.end()) {
        issue_next();
    }
    return actions;
}

std::vector<Action> with_transfers(Shape const& shape, int rank,
                                   std::span<std::vector<Task> const> tasks_of_all_ranks) {
    Timeline const timeline(shape, tasks_of_all_ranks, Durations{});
    std::vector<Task> const& tasks = tasks_of_all_ranks[static_cast<std::size_t>(rank)];
    std::vector<TimedAction> own;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
        own.push_back({tasks[k], timeline.start(rank, k)});
    }
    return with_transfers(shape, own, [&](Work const& work) { return timeline.end(work); });
}

}  // namespace dlmb::pipeline_p2p

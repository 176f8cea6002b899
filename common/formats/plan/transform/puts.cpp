// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two-sided operations as one-sided ones: who sends has to know where its blocks go, so this sees the plans of all
// ranks.
#include "common/base/error.hpp"
#include "common/formats/plan/transform/transform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace dlmb {
namespace {

/// Blocks that a step sends or receives, each with a signal of its own.
struct StepBlocks {
    GroupId group = 0;
    BufferId buffer = 0;
    std::vector<Block> blocks;
    int channel = -1;  // of a message
};

/// Exchanges, and messages that are alone in their window, become puts. Other operations stay as they are.
struct StepSides {
    std::optional<StepBlocks> sent, received;
};

StepSides sides_of(Operation const& operation) {
    if (auto const* exchange = std::get_if<Exchange>(&operation);
        exchange != nullptr && !exchange->scattered && !exchange->in_place()) {
        return {StepBlocks{exchange->group, exchange->send_buffer, exchange->send},
                StepBlocks{exchange->group, exchange->recv_buffer, exchange->recv}};
    }
    if (auto const* send = std::get_if<Send>(&operation); send != nullptr && send->window.messages == 1) {
        return {StepBlocks{send->group, send->buffer, {send->to}, send->channel}, std::nullopt};
    }
    if (auto const* recv = std::get_if<Recv>(&operation); recv != nullptr && recv->window.messages == 1) {
        return {std::nullopt, StepBlocks{recv->group, recv->buffer, {recv->from}, recv->channel}};
    }
    return {};
}

/// A block that a rank waits for.
struct ReceivePlace {
    Bytes offset;
    Bytes bytes;
    int channel;
};

/// By (sender, receiver), in the receiver's order. What is taken is gone.
class ReceivePlaces {
public:
    explicit ReceivePlaces(std::span<Plan const> plans) {
        for (Plan const& plan : plans) {
            for (Step const& step : plan.steps) {
                std::optional<StepBlocks> const received = sides_of(step.operation).received;
                if (received && plan.buffers.at(received->buffer).shared) {
                    throw UsageError(fmt::format("puts: step \"{}\" of rank {} receives in memory that other steps "
                                                 "use, too; raise --memory-limit of the program that made the plans",
                                                 step.label, plan.me));
                }
                for (Block const& block : received ? received->blocks : std::vector<Block>{}) {
                    Rank const from = world_rank(plan, received->group, block.peer);
                    of_pairs_[{from, plan.me}].push({block.offset, block.bytes, received->channel});
                }
            }
        }
    }

    Bytes take(Plan const& plan, Step const& step, Rank to, Bytes bytes, int channel) {
        std::queue<ReceivePlace>& queue = of_pairs_[{plan.me, to}];
        if (queue.empty() || queue.front().bytes != bytes || queue.front().channel != channel) {
            throw UsageError(fmt::format("puts: step \"{}\" of rank {}: rank {} does not receive its {} B in the order "
                                         "in which they are sent, as signals have to be waited for",
                                         step.label, plan.me, to, bytes));
        }
        Bytes const offset = queue.front().offset;
        queue.pop();
        return offset;
    }

private:
    std::map<std::pair<Rank, Rank>, std::queue<ReceivePlace>> of_pairs_;
};

/// A block of nothing is a signal alone.
template <class Operation>
void add(Operation& operation, std::vector<Block>& blocks, Block const& block) {
    operation.signals.push_back({block.peer, block.bytes > 0 ? 1U : 0U});
    if (block.bytes > 0) {
        blocks.push_back(block);
    }
}

Plan with_puts(Plan const& plan, ReceivePlaces& places) {
    Plan result = plan;
    result.steps.clear();
    std::vector<std::vector<StepId>> steps_of;  // by the step that they were
    auto const add_step = [&](Step const& old, Operation operation, std::string_view suffix) {
        Step step = old;
        step.operation = std::move(operation);
        step.label += suffix;
        step.after.clear();
        for (StepId const earlier : old.after) {
            step.after.insert(step.after.end(), steps_of[earlier].begin(), steps_of[earlier].end());
        }
        result.steps.push_back(std::move(step));
        return static_cast<StepId>(result.steps.size() - 1);
    };
    for (Step const& old : plan.steps) {
        if (auto const* compute = std::get_if<Compute>(&old.operation);
            compute != nullptr && (compute->conversion || compute->rearrangement)) {
            throw UsageError(fmt::format("puts: step \"{}\" of rank {} packs or moves rows, and whether rows that are "
                                         "put were packed right is not checked",
                                         old.label, plan.me));
        }
        auto const [sent, received] = sides_of(old.operation);
        std::vector<StepId> steps;
        if (sent) {
            Put put{.group = sent->group, .buffer = sent->buffer};
            for (Block const& block : sent->blocks) {
                Bytes const target =
                    places.take(plan, old, world_rank(plan, sent->group, block.peer), block.bytes, sent->channel);
                add(put, put.send, block);
                put.targets.resize(put.send.size(), target);
            }
            steps.push_back(add_step(old, std::move(put), received ? ".put" : ""));
        }
        if (received) {
            WaitSignal wait{.group = received->group, .buffer = received->buffer};
            for (Block const& block : received->blocks) {
                add(wait, wait.recv, block);
            }
            steps.push_back(add_step(old, std::move(wait), sent ? ".wait" : ""));
        }
        if (steps.empty()) {
            steps.push_back(add_step(old, old.operation, ""));
        }
        steps_of.push_back(std::move(steps));
    }
    return result;
}

}  // namespace

std::vector<Plan> with_puts(std::span<Plan const> plans) {
    ReceivePlaces places(plans);
    std::vector<Plan> result;
    std::transform(plans.begin(), plans.end(), std::back_inserter(result),
                   [&](Plan const& plan) { return with_puts(plan, places); });
    return result;
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/lay_out.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace dlmb {
namespace {

std::vector<Bytes> by_peer(std::span<Block const> blocks, std::size_t ranks) {
    std::vector<Bytes> bytes(ranks);
    for (Block const& block : blocks) {
        bytes.at(static_cast<std::size_t>(block.peer)) = block.bytes;
    }
    return bytes;
}

struct Adder {
    PlanBuilder& builder;
    Plan const& plan;
    std::string const& label;
    std::vector<StepId> const& after;

    StepId operator()(Exchange const& op) const {
        std::size_t const ranks = plan.groups.at(op.group).members.size();
        if (!plan.buffers.empty() && op.in_place()) {
            return builder.exchange_in_place(group(op), by_peer(op.send, ranks), label, after);
        }
        return builder.exchange(group(op), by_peer(op.send, ranks), by_peer(op.recv, ranks), label, after);
    }
    StepId operator()(Send const& op) const {
        return builder.send(group(op), op.to.peer, op.to.bytes, op.channel, op.batch, label, after, op.window);
    }
    StepId operator()(Recv const& op) const {
        return builder.recv(group(op), op.from.peer, op.from.bytes, op.channel, op.batch, label, after, op.window);
    }
    StepId operator()(Collective op) const {
        op.group = group(op);
        return builder.collective(std::move(op), label, after);
    }
    StepId operator()(Barrier const& op) const { return builder.barrier(group(op), label, after); }
    StepId operator()(Put const& op) const {
        std::vector<PlacedBytes> blocks;
        for (std::size_t i = 0; i < op.send.size(); ++i) {
            blocks.push_back({is_read(op.kind) ? 0 : op.targets.at(i), op.send[i].bytes});
        }
        return builder.put(group(op), op.signals, blocks, label, after, op.kind);
    }
    StepId operator()(WaitSignal const& op) const {
        std::vector<PlacedBytes> blocks;
        for (Block const& block : op.recv) {
            blocks.push_back({block.offset, block.bytes});
        }
        Bytes const bytes = plan.buffers.empty() ? 0 : plan.buffers.at(op.buffer).bytes;
        return builder.wait_signal(group(op), op.signals, blocks, bytes, label, after, op.kind);
    }
    StepId operator()(Compute const& op) const {
        return builder.compute(op.busy_ns, label, after, op.product, op.uninterrupted);
    }

private:
    [[nodiscard]] GroupId group(auto const& op) const { return builder.group(plan.groups.at(op.group)); }
};

}  // namespace

StepId lay_out(PlanBuilder& builder, Plan const& plan, Operation const& operation, std::string const& label,
               std::vector<StepId> const& after) {
    if (keeps_places(operation)) {
        throw UsageError(fmt::format("step \"{}\" packs or moves rows of its tensor (--quantize, --pack), which keep "
                                     "their places: such plans are not laid out anew",
                                     label));
    }
    return std::visit(Adder{builder, plan, label, after}, operation);
}

bool keeps_places(Operation const& operation) {
    auto const* exchange = std::get_if<Exchange>(&operation);
    auto const* compute = std::get_if<Compute>(&operation);
    return (exchange != nullptr && exchange->scattered) ||
           (compute != nullptr && (compute->conversion || compute->rearrangement));
}

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

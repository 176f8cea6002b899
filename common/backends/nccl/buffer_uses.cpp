// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/buffer_uses.hpp"

#include <algorithm>

namespace dlmb::nccl {
namespace {

struct Use {
    GroupId group;
    std::vector<BufferId> buffers;
};

struct UseOf {
    Use operator()(Exchange const& step) const { return {step.group, {step.send_buffer, step.recv_buffer}}; }
    Use operator()(Send const& step) const { return {step.group, {step.buffer}}; }
    Use operator()(Recv const& step) const { return {step.group, {step.buffer}}; }
    Use operator()(Broadcast const& step) const { return {step.group, {step.data.buffer}}; }
    Use operator()(Compute const& /*step*/) const { return {0, {}}; }
    template <class Collective>
    Use operator()(Collective const& step) const {
        return {step.group, {step.send.buffer, step.recv.buffer}};
    }
};

bool is_message(Operation const& operation) {
    return std::holds_alternative<Send>(operation) || std::holds_alternative<Recv>(operation);
}

void add(Plan const& plan, std::vector<BufferId>& known, std::vector<BufferId> const& buffers) {
    for (BufferId const buffer : buffers) {
        if (plan.buffers[buffer].bytes > 0 && std::find(known.begin(), known.end(), buffer) == known.end()) {
            known.push_back(buffer);
        }
    }
}

}  // namespace

BufferUses collective_uses(Plan const& plan) {
    BufferUses uses;
    for (Step const& step : plan.steps) {
        Use const use = std::visit(UseOf{}, step.operation);
        if (!is_message(step.operation) && !use.buffers.empty()) {
            add(plan, uses[plan.groups[use.group].members], use.buffers);
        }
    }
    return uses;
}

std::vector<BufferId> message_uses(Plan const& plan) {
    std::vector<BufferId> uses;
    for (Step const& step : plan.steps) {
        if (is_message(step.operation)) {
            add(plan, uses, std::visit(UseOf{}, step.operation).buffers);
        }
    }
    return uses;
}

}  // namespace dlmb::nccl

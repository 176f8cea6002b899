// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/transform/draft.hpp"

#include "common/plan/builder.hpp"
#include "common/plan/lay_out.hpp"

#include <utility>

namespace dlmb {
namespace {

Draft draft_of(Plan const& plan, Step const& step) {
    Draft draft{step.operation, step.after, step.label, step.microbatch};
    std::visit(
        [&](auto const& operation) {
            if constexpr (requires { operation.recv_buffer; }) {
                draft.shared = plan.buffers.at(operation.recv_buffer).shared;
            } else if constexpr (requires { operation.buffer; }) {
                draft.shared = plan.buffers.at(operation.buffer).shared;
            } else if constexpr (requires { operation.data; }) {
                draft.shared = plan.buffers.at(operation.data.buffer).shared;
            } else if constexpr (requires { operation.send.buffer; }) {
                draft.shared = plan.buffers.at(operation.recv.buffer).shared;
                draft.in_place = !draft.shared && operation.send.buffer == operation.recv.buffer;
            }
        },
        step.operation);
    return draft;
}

}  // namespace

std::vector<Draft> drafts_of(Plan const& plan) {
    std::vector<Draft> drafts;
    drafts.reserve(plan.steps.size());
    for (Step const& step : plan.steps) {
        drafts.push_back(draft_of(plan, step));
    }
    return drafts;
}

Plan lay_out_all(Plan const& plan, std::vector<Draft> const& drafts) {
    PlanBuilder builder(plan.me);
    for (Group const& group : plan.groups) {
        builder.group(group);
    }
    for (Draft const& draft : drafts) {
        builder.in_place(draft.in_place);
        builder.share_buffers(draft.shared);
        builder.microbatch(draft.microbatch);
        lay_out(builder, plan, draft.operation, draft.label, draft.after);
    }
    return std::move(builder).finish();
}

}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/transform/draft.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/lay_out.hpp"

#include <fmt/core.h>

#include <utility>

namespace dlmb {
namespace {

Draft draft_of(Plan const& plan, Step const& step) {
    Draft draft{step.operation, step.after, step.label, step.microbatch};
    std::visit(
        [&](auto const& operation) {
            if constexpr (requires { operation.scattered; }) {
                if (operation.scattered) {
                    throw UsageError(
                        fmt::format("step \"{}\" moves rows (--pack fused), which a plan that is transformed "
                                    "cannot do yet; leave --pack out",
                                    step.label));
                }
            }
            if constexpr (requires { operation.recv_buffer; }) {
                draft.shared = plan.buffers.at(operation.recv_buffer).shared;
                draft.in_place = operation.in_place();
            } else if constexpr (requires { operation.buffer; }) {
                draft.shared = plan.buffers.at(operation.buffer).shared;
            } else if constexpr (requires { operation.recv.buffer; }) {
                draft.shared = plan.buffers.at(operation.recv.buffer).shared;
                draft.in_place = !draft.shared && operation.send.buffer == operation.recv.buffer;
            }
        },
        step.operation);
    return draft;
}

Conversion const* conversion_of(Step const& step) {
    auto const* const compute = std::get_if<Compute>(&step.operation);
    return compute != nullptr && compute->conversion ? &*compute->conversion : nullptr;
}

/// Whether `step` packs what the next one moves and the one behind that unpacks.
bool begins_packed(Plan const& plan, StepId step) {
    auto const waits_for = [&](StepId later, StepId earlier) {
        return plan.steps[later].after == std::vector<StepId>{earlier};
    };
    if (plan.steps.size() - step < 3 || conversion_of(plan.steps[step]) == nullptr ||
        conversion_of(plan.steps[step + 2]) == nullptr) {
        return false;
    }
    OperationKind const moves = kind_of(plan.steps[step + 1].operation);
    return (moves == OperationKind::exchange || moves == OperationKind::all_gather) && waits_for(step + 1, step) &&
           waits_for(step + 2, step + 1);
}

/// Blocks of nothing are in neither list.
std::vector<std::uint64_t> rows_by_peer(std::vector<Block> const& places, Conversion const& conversion,
                                        std::size_t ranks) {
    std::vector<std::uint64_t> rows(ranks);
    for (std::size_t block = 0; block < places.size(); ++block) {
        rows.at(static_cast<std::size_t>(places[block].peer)) = conversion.blocks.at(block).rows;
    }
    return rows;
}

std::vector<std::uint64_t> numbers_by_rank(Collective const& gather, Conversion const& unpacked, std::size_t ranks) {
    std::vector<std::uint64_t> numbers;
    auto block = unpacked.blocks.begin();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        bool const empty = gather.shares.empty() ? gather.bytes == 0 : gather.shares[rank] == 0;
        numbers.push_back(empty ? 0 : (block++)->row_numbers);
    }
    return numbers;
}

PackedRows rows_of(Plan const& plan, StepId first) {
    Conversion const& packs = *conversion_of(plan.steps[first]);
    Conversion const& unpacks = *conversion_of(plan.steps[first + 2]);
    PackedRows rows;
    rows.packing = {packs.format, packs.element};
    if (auto const* const exchange = std::get_if<Exchange>(&plan.steps[first + 1].operation)) {
        std::size_t const ranks = plan.groups.at(exchange->group).members.size();
        rows.sent = rows_by_peer(exchange->send, packs, ranks);
        rows.received = rows_by_peer(exchange->recv, unpacks, ranks);
        for (Conversion const* const each : {&packs, &unpacks}) {
            rows.row_numbers = each->blocks.empty() ? rows.row_numbers : each->blocks.front().row_numbers;
        }
    } else {
        auto const& gather = std::get<Collective>(plan.steps[first + 1].operation);
        rows.sent = numbers_by_rank(gather, unpacks, plan.groups.at(gather.group).members.size());
    }
    return rows;
}

StepId lay_out_packed(PlanBuilder& builder, Plan const& plan, Draft const& draft, std::vector<StepId> const& after) {
    PackedRows const& rows = *draft.rows;
    if (auto const* const exchange = std::get_if<Exchange>(&draft.operation)) {
        return builder.packed_exchange(builder.group(plan.groups.at(exchange->group)), rows.sent, rows.received,
                                       rows.row_numbers, rows.packing, draft.label, after);
    }
    GroupId const group = std::get<Collective>(draft.operation).group;
    return builder.packed_all_gather(builder.group(plan.groups.at(group)), rows.sent, rows.packing, draft.label, after);
}

}  // namespace

std::vector<Draft> drafts_of(Plan const& plan) {
    std::vector<Draft> drafts;
    std::vector<StepId> place_of(plan.steps.size());
    for (StepId step = 0; step < plan.steps.size();) {
        bool const packed = begins_packed(plan, step);
        Draft draft = draft_of(plan, plan.steps[packed ? step + 1 : step]);
        if (packed) {
            draft.after = plan.steps[step].after;
            draft.rows = rows_of(plan, step);
        }
        for (StepId& earlier : draft.after) {
            earlier = place_of[earlier];
        }
        for (StepId const end = step + (packed ? 3 : 1); step < end; ++step) {
            place_of[step] = static_cast<StepId>(drafts.size());
        }
        drafts.push_back(std::move(draft));
    }
    return drafts;
}

Plan lay_out_all(Plan const& plan, std::vector<Draft> const& drafts) {
    PlanBuilder builder(plan.me);
    for (Group const& group : plan.groups) {
        builder.group(group);
    }
    std::vector<StepId> last_step_of;
    for (Draft const& draft : drafts) {
        builder.in_place(draft.in_place);
        builder.share_buffers(draft.shared);
        builder.microbatch(draft.microbatch);
        std::vector<StepId> after;
        for (StepId const earlier : draft.after) {
            after.push_back(last_step_of.at(earlier));
        }
        if (draft.packs_after) {
            after.push_back(last_step_of.at(*draft.packs_after) - 2);
        }
        last_step_of.push_back(draft.rows ? lay_out_packed(builder, plan, draft, after)
                                          : lay_out(builder, plan, draft.operation, draft.label, after));
    }
    return std::move(builder).finish();
}

}  // namespace dlmb

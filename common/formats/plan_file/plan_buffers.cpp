// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/plan_buffers.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/lay_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <type_traits>

namespace dlmb {
namespace {

/// How many steps of the same group, or messages of the same channel, came before.
class PlaceCounter {
public:
    explicit PlaceCounter(Plan const& plan) : plan_(plan), on_group_(plan.groups.size()) {}

    std::size_t next(Operation const& operation) {
        if (auto const* send = std::get_if<Send>(&operation)) {
            return messages_[{plan_.me, world_rank(plan_, send->group, send->to.peer), send->channel}]++;
        }
        if (auto const* recv = std::get_if<Recv>(&operation)) {
            return messages_[{world_rank(plan_, recv->group, recv->from.peer), plan_.me, recv->channel}]++;
        }
        auto const group = collective_group(operation);  // signals match by pairs: their steps all have places
        return group ? on_group_.at(*group)++ : 0;
    }

private:
    Plan const& plan_;
    std::vector<std::size_t> on_group_;
    std::map<std::tuple<Rank, Rank, int>, std::size_t> messages_;
};

Bytes sum_of(std::span<Block const> blocks) {
    Bytes sum = 0;
    for (Block const& block : blocks) {
        sum += block.bytes + guard_bytes;
    }
    return sum;
}

Bytes buffer_bytes(Operation const& operation) {
    return std::visit(
        [&](auto const& step) -> Bytes {
            if constexpr (requires { step.window; }) {
                auto const& blocks =
                    kind_of(operation) == OperationKind::send ? sent_blocks(operation) : received_blocks(operation);
                return step.window.span(blocks.front().bytes) + guard_bytes;
            } else if constexpr (requires { step.element; }) {
                return 2 * (step.bytes + guard_bytes);  // at most: of what has shares one side is smaller
            } else if constexpr (std::is_same_v<std::decay_t<decltype(step)>, WaitSignal>) {
                Bytes end = 0;  // fixed places: the highest one counts
                for (Block const& block : step.recv) {
                    end = std::max(end, block.offset + block.bytes);
                }
                return end + 2 * guard_bytes;
            } else {
                return sum_of(sent_blocks(operation)) + sum_of(received_blocks(operation));
            }
        },
        operation);
}

}  // namespace

void visit_places(Plan const& plan, PlaceVisitor const& visit) {
    PlaceCounter places(plan);
    for (Step const& step : plan.steps) {
        std::size_t const place = places.next(step.operation);
        visit(place, buffer_bytes(step.operation));
    }
}

Plan with_buffers(Plan const& plan, std::size_t own_places) {
    PlanBuilder builder(plan.me);
    for (Group const& group : plan.groups) {  // also those of other ranks' messages
        builder.group(group);
    }
    PlaceCounter places(plan);
    for (Step const& step : plan.steps) {
        builder.share_buffers(places.next(step.operation) >= own_places);
        builder.microbatch(step.microbatch);
        try {
            lay_out(builder, plan, step.operation, step.label, step.after);
        } catch (Error const& error) {
            throw UsageError(fmt::format("rank {}: step \"{}\": {}", plan.me, step.label, error.what()));
        }
    }
    return std::move(builder).finish();
}

}  // namespace dlmb

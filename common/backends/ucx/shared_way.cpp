// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_way.hpp"

#include "common/backends/ucx/memory_types.hpp"

#include <algorithm>

namespace dlmb::ucx {
namespace {

constexpr std::size_t most_places = 64;

/// Whether it is one block between two ranks.
bool is_one_block(algorithms::Shape const& shape) {
    return shape.places == 2 && (shape.kind == OperationKind::broadcast || shape.kind == OperationKind::all_gather);
}

/// Among several a message lets the root run ahead (tests/benchmarks/ucx_vs_mpi, 2 to 4 ranks on 2 cores).
bool messages_are_faster(algorithms::Shape const& shape, Bytes messages_from) {
    constexpr Bytes smallest_broadcast = Bytes{16} << 10;
    if (is_one_block(shape)) {
        return (shape.kind == OperationKind::broadcast ? shape.bytes : shape.part()) >= messages_from;
    }
    return shape.kind == OperationKind::broadcast && shape.bytes < smallest_broadcast;
}

std::vector<algorithms::SharedBlock> blocks_below(Bytes limit, std::vector<Block> const& blocks) {
    std::vector<algorithms::SharedBlock> shared;
    for (Block const& block : blocks) {
        if (block.bytes > 0 && block.bytes < limit) {
            shared.push_back({block.peer, block.offset, block.bytes});
        }
    }
    return shared;
}

std::optional<SharedWay> exchange_way(Exchange const& exchange, Buffers const& buffers, int place, int places,
                                      SharedChoice choice) {
    Bytes const limit = choice.always ? WindowUse::never : choice.use.messages_from;
    auto const sent = blocks_below(limit, exchange.send);
    auto const received = blocks_below(limit, exchange.recv);
    auto const is_other = [place](algorithms::SharedBlock const& block) { return block.place != place; };
    if (std::none_of(sent.begin(), sent.end(), is_other) && std::none_of(received.begin(), received.end(), is_other)) {
        return std::nullopt;
    }
    SharedWay way;
    way.plan = algorithms::shared_exchange(place, places, sent, received, choice.segment);
    way.group = exchange.group;
    way.place = place;
    way.input = buffers.base.at(exchange.send_buffer);
    way.output = buffers.base.at(exchange.recv_buffer);
    way.use = {choice.use.copies, limit};
    way.has_limit = !choice.always;
    return way;
}

struct GroupOf {
    Plan const& plan;
    template <class Step>
    Group const* operator()(Step const& step) const {
        if constexpr (requires { step.group; }) {
            return &plan.groups.at(step.group);
        } else {
            return nullptr;
        }
    }
};

}  // namespace

bool can_share(Plan const& plan, Operation const& operation, MemoryKind kind, std::vector<bool> const& sharing) {
    Group const* const group = std::visit(GroupOf{plan}, operation);
    return group == nullptr || group->members.size() == 1 ||
           (!works_on_device(kind) && std::all_of(group->members.begin(), group->members.end(), [&](Rank member) {
               return sharing.at(static_cast<std::size_t>(member));
           }));
}

std::optional<SharedWay> shared_way(Plan const& plan, Operation const& operation, Buffers const& buffers,
                                    std::optional<Collective> const& collective, SharedChoice choice) {
    Group const* const group = std::visit(GroupOf{plan}, operation);
    if (group == nullptr || group->members.size() == 1 || (!choice.always && group->members.size() > most_places)) {
        return std::nullopt;
    }
    if (auto const* const exchange = std::get_if<Exchange>(&operation)) {
        auto const place = std::find(group->members.begin(), group->members.end(), plan.me) - group->members.begin();
        return exchange_way(*exchange, buffers, static_cast<int>(place), static_cast<int>(group->members.size()),
                            choice);
    }
    algorithms::Shape const& shape = collective->shape;
    if (shape.bytes == 0 || (!choice.always && messages_are_faster(shape, choice.use.messages_from))) {
        return std::nullopt;
    }
    return SharedWay{algorithms::shared_memory(shape, choice.segment),
                     collective->group,
                     shape.place,
                     collective->input,
                     collective->output,
                     shape.element,
                     collective->reduction,
                     choice.use,
                     !choice.always && is_one_block(shape)};
}

}  // namespace dlmb::ucx

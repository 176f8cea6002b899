// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_way.hpp"

#include "common/backends/ucx/memory_types.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::ucx {
namespace {

// Measured with tests/benchmarks/ucx_vs_mpi on 4 ranks and 2 cores.
constexpr std::size_t most_places = 64;

/// Of an exchange; beyond, the kernel's one copy is as good and waits less. Between two ranks nothing disturbs it.
Bytes largest_shared_block(int places) {
    return places == 2 ? Bytes{16} << 10 : Bytes{1} << 20;
}

bool messages_are_faster(algorithms::Shape const& shape) {
    constexpr Bytes smallest_broadcast = Bytes{16} << 10;  // below, a message lets the root run ahead of several
    constexpr Bytes largest_broadcast_of_two = Bytes{64} << 10;
    constexpr Bytes largest_gather_of_two = Bytes{64} << 10;
    bool const two = shape.places == 2;
    switch (shape.kind) {
    case OperationKind::broadcast:
        return two ? shape.bytes > largest_broadcast_of_two : shape.bytes < smallest_broadcast;
    case OperationKind::all_gather:
        return two && shape.bytes > largest_gather_of_two;
    default:
        return false;
    }
}

std::vector<algorithms::SharedBlock> blocks_up_to(Bytes largest, std::vector<Block> const& blocks) {
    std::vector<algorithms::SharedBlock> chosen;
    for (Block const& block : blocks) {
        if (block.bytes > 0 && block.bytes <= largest) {
            chosen.push_back({block.peer, block.offset, block.bytes});
        }
    }
    return chosen;
}

std::optional<SharedWay> exchange_way(Exchange const& exchange, Buffers const& buffers, int place, int places,
                                      SharedChoice choice) {
    SharedWay way;
    way.largest_block = choice.always ? std::numeric_limits<Bytes>::max() : largest_shared_block(places);
    auto const sent = blocks_up_to(way.largest_block, exchange.send);
    auto const received = blocks_up_to(way.largest_block, exchange.recv);
    auto const is_other = [place](algorithms::SharedBlock const& block) { return block.place != place; };
    if (std::none_of(sent.begin(), sent.end(), is_other) && std::none_of(received.begin(), received.end(), is_other)) {
        return std::nullopt;
    }
    way.plan = algorithms::shared_exchange(place, places, sent, received, choice.segment);
    way.group = exchange.group;
    way.place = place;
    way.input = buffers.base.at(exchange.send_buffer);
    way.output = buffers.base.at(exchange.recv_buffer);
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
    if (shape.bytes == 0 || (!choice.always && messages_are_faster(shape))) {
        return std::nullopt;
    }
    return SharedWay{algorithms::shared_memory(shape, choice.segment),
                     collective->group,
                     shape.place,
                     collective->input,
                     collective->output,
                     shape.element,
                     collective->reduction,
                     0};
}

}  // namespace dlmb::ucx

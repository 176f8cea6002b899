// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/call_of.hpp"

#include "common/backends/nccl/data_types.hpp"
#include "common/plan/packed.hpp"

#include <fmt/core.h>

namespace dlmb::nccl {
namespace {

using MadeItem = Expected<Item, Unsupported>;

struct Maker {
    Plan const& plan;
    StepId step;
    Buffers const& buffers;
    CommunicatorLookup const& communicators;
    CallSettings const& settings;

    [[nodiscard]] MadeItem operator()(Exchange const& exchange) const {
        return settings.all_to_all ? uniform(exchange) : grouped(exchange);
    }
    [[nodiscard]] MadeItem operator()(Send const& send) const {
        Transfer const transfer{buffers.base[send.buffer] + send.to.offset, send.to.bytes,
                                world_rank(send.group, send.to.peer), send.channel};
        return done(GroupedCall{communicators.world, {transfer}, {}});
    }
    [[nodiscard]] MadeItem operator()(Recv const& recv) const {
        Transfer const transfer{buffers.base[recv.buffer] + recv.from.offset, recv.from.bytes,
                                world_rank(recv.group, recv.from.peer), recv.channel};
        return done(GroupedCall{communicators.world, {}, {transfer}});
    }
    [[nodiscard]] MadeItem operator()(AllGather const& gather) const {
        return done(
            AllGatherCall{of(gather.group), at(gather.send), at(gather.recv), gather.bytes / size(gather.group)});
    }
    [[nodiscard]] MadeItem operator()(Broadcast const& broadcast) const {
        return done(BroadcastCall{of(broadcast.group), at(broadcast.data), broadcast.bytes, broadcast.root});
    }
    [[nodiscard]] MadeItem operator()(AllReduce const& reduce) const {
        auto const type = reducible(reduce.element);
        if (!type) {
            return cannot(type.error().reason);
        }
        return done(AllReduceCall{of(reduce.group), at(reduce.send), at(reduce.recv),
                                  reduce.bytes / size_of(reduce.element), type.value(),
                                  operation_of(reduce.reduction)});
    }
    [[nodiscard]] MadeItem operator()(ReduceScatter const& reduce) const {
        auto const type = reducible(reduce.element);
        if (!type) {
            return cannot(type.error().reason);
        }
        return done(ReduceScatterCall{of(reduce.group), at(reduce.send), at(reduce.recv),
                                      reduce.bytes / size(reduce.group) / size_of(reduce.element), type.value(),
                                      operation_of(reduce.reduction)});
    }
    [[nodiscard]] MadeItem operator()(Compute const& compute) const { return done(compute); }

private:
    [[nodiscard]] ncclComm_t of(GroupId group) const { return communicators.of_group(plan.groups[group]); }
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
    [[nodiscard]] std::size_t size(GroupId group) const { return plan.groups[group].members.size(); }
    [[nodiscard]] Rank world_rank(GroupId group, Rank peer) const {
        return plan.groups[group].members[static_cast<std::size_t>(peer)];
    }
    [[nodiscard]] MadeItem done(Work work) const { return Item{{step}, std::move(work), std::nullopt}; }
    [[nodiscard]] MadeItem cannot(std::string_view why) const {
        return Unsupported{fmt::format("nccl: \"{}\": {}", plan.steps[step].label, why)};
    }

    [[nodiscard]] Expected<ncclDataType_t, Unsupported> reducible(Element element) const {
        if (element == Element::fp8 && !settings.why_no_fp8.empty()) {
            return Unsupported{settings.why_no_fp8};
        }
        return type_of(element);
    }

    [[nodiscard]] MadeItem grouped(Exchange const& exchange) const {
        GroupedCall call{of(exchange.group), {}, {}};
        for (Block const& block : exchange.send) {
            call.sends.push_back({buffers.base[exchange.send_buffer] + block.offset, block.bytes, block.peer});
        }
        for (Block const& block : exchange.recv) {
            call.receives.push_back({buffers.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer});
        }
        return done(std::move(call));
    }

    [[nodiscard]] MadeItem uniform(Exchange const& exchange) const {
        auto const send = packed(exchange.send, size(exchange.group));
        auto const recv = packed(exchange.recv, size(exchange.group));
        if (!send || !recv) {
            return cannot("ncclAlltoAll needs equal packed blocks; method grouped takes ragged ones");
        }
        return done(AllToAllCall{of(exchange.group), buffers.base[exchange.send_buffer] + send->offset,
                                 buffers.base[exchange.recv_buffer] + recv->offset, send->block_bytes});
    }
};

}  // namespace

Expected<Item, Unsupported> call_of(Plan const& plan, StepId step, Buffers const& buffers,
                                    CommunicatorLookup const& communicators, CallSettings const& settings) {
    return std::visit(Maker{plan, step, buffers, communicators, settings}, plan.steps[step].operation);
}

}  // namespace dlmb::nccl

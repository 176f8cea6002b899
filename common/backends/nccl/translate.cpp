// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include "common/backends/nccl/data_types.hpp"
#include "common/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace dlmb::nccl {
namespace {

using MaybeItem = Expected<Item, Unsupported>;

struct CallOfStep {
    Plan const& plan;
    StepId step;
    Buffers const& buffers;
    CommunicatorLookup const& communicators;
    CallSettings const& settings;

    [[nodiscard]] MaybeItem operator()(Exchange const& exchange) const {
        return settings.all_to_all ? uniform(exchange) : grouped(exchange);
    }
    [[nodiscard]] MaybeItem operator()(Send const& send) const {
        Transfer const transfer{buffers.base[send.buffer] + send.to.offset, send.to.bytes,
                                world_rank(send.group, send.to.peer), send.channel};
        return done(GroupedCall{communicators.world, {transfer}, {}});
    }
    [[nodiscard]] MaybeItem operator()(Recv const& recv) const {
        Transfer const transfer{buffers.base[recv.buffer] + recv.from.offset, recv.from.bytes,
                                world_rank(recv.group, recv.from.peer), recv.channel};
        return done(GroupedCall{communicators.world, {}, {transfer}});
    }
    [[nodiscard]] MaybeItem operator()(AllGather const& gather) const {
        return done(
            AllGatherCall{of(gather.group), at(gather.send), at(gather.recv), gather.bytes / size(gather.group)});
    }
    [[nodiscard]] MaybeItem operator()(Broadcast const& broadcast) const {
        return done(BroadcastCall{of(broadcast.group), at(broadcast.data), broadcast.bytes, broadcast.root});
    }
    [[nodiscard]] MaybeItem operator()(AllReduce const& reduce) const {
        auto const type = reducible(reduce.element);
        if (!type) {
            return cannot(type.error().reason);
        }
        return done(AllReduceCall{of(reduce.group), at(reduce.send), at(reduce.recv),
                                  reduce.bytes / size_of(reduce.element), type.value(),
                                  operation_of(reduce.reduction)});
    }
    [[nodiscard]] MaybeItem operator()(ReduceScatter const& reduce) const {
        auto const type = reducible(reduce.element);
        if (!type) {
            return cannot(type.error().reason);
        }
        return done(ReduceScatterCall{of(reduce.group), at(reduce.send), at(reduce.recv),
                                      reduce.bytes / size(reduce.group) / size_of(reduce.element), type.value(),
                                      operation_of(reduce.reduction)});
    }
    [[nodiscard]] MaybeItem operator()(Compute const& compute) const { return done(compute); }

private:
    [[nodiscard]] ncclComm_t of(GroupId group) const { return communicators.of_group(plan.groups[group]); }
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
    [[nodiscard]] std::size_t size(GroupId group) const { return plan.groups[group].members.size(); }
    [[nodiscard]] Rank world_rank(GroupId group, Rank peer) const {
        return plan.groups[group].members[static_cast<std::size_t>(peer)];
    }
    [[nodiscard]] MaybeItem done(Work work) const { return Item{{step}, std::move(work), std::nullopt}; }
    [[nodiscard]] MaybeItem cannot(std::string_view why) const {
        return Unsupported{fmt::format("nccl: \"{}\": {}", plan.steps[step].label, why)};
    }

    [[nodiscard]] Expected<ncclDataType_t, Unsupported> reducible(Element element) const {
        if (element == Element::fp8 && !settings.why_no_fp8.empty()) {
            return Unsupported{settings.why_no_fp8};
        }
        return type_of(element);
    }

    [[nodiscard]] MaybeItem grouped(Exchange const& exchange) const {
        GroupedCall call{of(exchange.group), {}, {}};
        for (Block const& block : exchange.send) {
            call.sends.push_back({buffers.base[exchange.send_buffer] + block.offset, block.bytes, block.peer});
        }
        for (Block const& block : exchange.recv) {
            call.receives.push_back({buffers.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer});
        }
        return done(std::move(call));
    }

    [[nodiscard]] MaybeItem uniform(Exchange const& exchange) const {
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

Expected<Item, Unsupported> to_nccl_call(Plan const& plan, StepId step, Buffers const& buffers,
                                         CommunicatorLookup const& communicators, CallSettings const& settings) {
    return std::visit(CallOfStep{plan, step, buffers, communicators, settings}, plan.steps[step].operation);
}

namespace {

using ItemIndex = std::optional<std::size_t>;  // in the list of items; nothing sorts first

/// A message's kind, peer in the world and channel: messages that are alike in these keep their order.
using MessageKind = std::tuple<bool, Rank, int>;

std::optional<MessageKind> message_kind_of(Item const& item) {
    auto const* const group = std::get_if<GroupedCall>(&item.work);
    if (group == nullptr || group->sends.size() + group->receives.size() != 1) {
        return std::nullopt;
    }
    Transfer const& transfer = group->sends.empty() ? group->receives.front() : group->sends.front();
    return transfer.channel == Transfer::no_channel
               ? std::nullopt
               : std::optional(MessageKind{group->sends.empty(), transfer.peer, transfer.channel});
}

class Translator {
public:
    explicit Translator(Plan const& plan)
        : plan_(plan), item_of_(plan.steps.size()), last_call_before_(plan.steps.size()) {}

    void add(StepId step, Item item) {
        bool const computes = item.computes();
        ItemIndex const needed = latest(step, !computes);
        last_call_before_[step] = last_call_before(step);
        std::optional<MessageKind> const message = message_kind_of(item);
        ItemIndex const group = message ? group_for(step, *message, needed) : std::nullopt;
        item_of_[step] = group.value_or(items_.size());
        if (message) {
            last_of_kind_[*message] = item_of_[step];
        }
        if (group) {
            append(step, std::get<GroupedCall>(item.work));
            return;
        }
        ItemIndex& waited = waited_for_[computes ? 1 : 0];
        if (needed > waited) {
            item.wait = needed;
            waited = needed;
        }
        if (!computes && !message) {
            run_.clear();
        } else if (message) {
            run_.push_back({items_.size(), waited});
        }
        items_.push_back(std::move(item));
    }

    [[nodiscard]] std::vector<Item> finish() && { return std::move(items_); }

private:
    /// A group of messages: its place, and the last computation that is complete before it starts.
    struct MessageGroup {
        std::size_t place;
        ItemIndex computed;
    };

    /// The last item, among computations or among the others, that a step waits for.
    [[nodiscard]] ItemIndex latest(StepId step, bool computations) const {
        ItemIndex last;
        for (StepId const earlier : plan_.steps[step].after) {
            if (items_[item_of_[earlier]].computes() == computations) {
                last = std::max(last, ItemIndex{item_of_[earlier]});
            }
        }
        return last;
    }

    /// The last item that is no computation which the step waits for by any path.
    [[nodiscard]] ItemIndex last_call_before(StepId step) const {
        ItemIndex last = latest(step, false);
        for (StepId const earlier : plan_.steps[step].after) {
            last = std::max(last, last_call_before_[earlier]);
        }
        return last;
    }

    /// The first group of the run of messages at the end of the stream that the message can be part of without holding
    /// anything up: it waits for nothing in it or behind it, nor does it overtake an earlier one of its kind; the group
    /// need not wait for a later computation; no computation waits for the group and so would for the message. Whatever
    /// a group does not fulfil the groups before it do not either.
    [[nodiscard]] ItemIndex group_for(StepId step, MessageKind const& message, ItemIndex needed) const {
        auto const before = last_of_kind_.find(message);
        ItemIndex const behind = std::max(last_call_before_[step], waited_for_[1]);
        auto const too_early = [&](MessageGroup const& group) {
            bool const overtakes = before != last_of_kind_.end() && group.place < before->second;
            return overtakes || group.computed < needed || ItemIndex{group.place} <= behind;
        };
        auto const found = std::partition_point(run_.begin(), run_.end(), too_early);
        return found == run_.end() ? std::nullopt : ItemIndex{found->place};
    }

    void append(StepId step, GroupedCall const& message) {
        auto& group = std::get<GroupedCall>(items_[item_of_[step]].work);
        group.sends.insert(group.sends.end(), message.sends.begin(), message.sends.end());
        group.receives.insert(group.receives.end(), message.receives.begin(), message.receives.end());
        items_[item_of_[step]].steps.push_back(step);
    }

    Plan const& plan_;
    std::vector<Item> items_;
    std::vector<std::size_t> item_of_;                 // by step
    std::vector<ItemIndex> last_call_before_;          // by step
    std::vector<MessageGroup> run_;                    // message groups behind the last call of another kind
    std::map<MessageKind, std::size_t> last_of_kind_;  // item of its last message
    ItemIndex waited_for_[2];  // by stream, communication first: the last item of the other it waits for
};

}  // namespace

Expected<std::vector<Item>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                   CommunicatorLookup const& communicators,
                                                   CallSettings const& settings) {
    Translator translator(plan);
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        Expected<Item, Unsupported> made = to_nccl_call(plan, step, buffers, communicators, settings);
        if (!made) {
            return made.error();
        }
        translator.add(step, std::move(made).value());
    }
    return std::move(translator).finish();
}

}  // namespace dlmb::nccl

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace dlmb::nccl {
namespace {

/// Throws for fp8 where fp8_type() is nothing.
ncclDataType_t type_of(Element element) {
    switch (element) {
    case Element::byte:
        return ncclUint8;
    case Element::int8:
        return ncclInt8;
    case Element::int32:
        return ncclInt32;
    case Element::int64:
        return ncclInt64;
    case Element::fp8:
        return fp8_type().value();
    case Element::fp16:
        return ncclFloat16;
    case Element::bf16:
        return ncclBfloat16;
    case Element::fp32:
        return ncclFloat32;
    case Element::fp64:
        break;
    }
    return ncclFloat64;
}

ncclRedOp_t operation_of(Reduction reduction) {
    switch (reduction) {
    case Reduction::prod:
        return ncclProd;
    case Reduction::min:
        return ncclMin;
    case Reduction::max:
        return ncclMax;
    case Reduction::sum:
        break;
    }
    return ncclSum;
}

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
        return done(GroupedCall{communicators.world, transfers(send, send.to), {}});
    }
    [[nodiscard]] MaybeItem operator()(Recv const& recv) const {
        return done(GroupedCall{communicators.world, {}, transfers(recv, recv.from)});
    }
    [[nodiscard]] MaybeItem operator()(Collective const& collective) const {
        OperationFacts const& facts = facts_of(collective.kind);
        bool const equal = are_equal(collective.shares);
        if (facts.reduces && !equal) {
            return cannot("ncclReduceScatter takes equal parts only");
        }
        if (facts.reduces && collective.element == Element::fp8 && !settings.why_no_fp8.empty()) {
            return cannot(settings.why_no_fp8);
        }
        bool const has_call = facts.parts == PartSide::none || (facts.root == RootRole::none && equal);
        if (!has_call) {
            return grouped(direct_blocks(plan, collective));
        }
        CollectiveCall call{collective.kind, of(collective.group), at(collective.send), at(collective.recv),
                            collective.bytes};
        call.count /= facts.parts == PartSide::none ? 1 : size(collective.group);
        call.root = collective.root;
        if (facts.reduces) {  // what is only moved is counted in bytes
            call.count /= size_of(collective.element);
            call.type = type_of(collective.element);
            call.operation = operation_of(collective.reduction);
        }
        return done(call);
    }
    [[nodiscard]] MaybeItem operator()(Barrier const& /*barrier*/) const { return cannot("NCCL has no barrier"); }
    [[nodiscard]] MaybeItem operator()(Put const& /*put*/) const { return done(settings.one_sided->call_of(step)); }
    [[nodiscard]] MaybeItem operator()(WaitSignal const& /*wait*/) const {
        return done(settings.one_sided->call_of(step));
    }
    [[nodiscard]] MaybeItem operator()(Compute const& compute) const { return done(compute); }

private:
    [[nodiscard]] ncclComm_t of(GroupId group) const { return communicators.of_group(plan.groups[group]); }
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
    [[nodiscard]] std::size_t size(GroupId group) const { return plan.groups[group].members.size(); }
    [[nodiscard]] MaybeItem done(Work work) const { return Item{{step}, std::move(work), std::nullopt}; }
    [[nodiscard]] MaybeItem cannot(std::string_view why) const {
        return Unsupported{fmt::format("nccl: \"{}\": {}", plan.steps[step].label, why)};
    }

    [[nodiscard]] std::vector<Transfer> transfers(auto const& operation, Block const& block) const {
        std::vector<Transfer> messages;
        std::byte* data = buffers.base[operation.buffer] + block.offset;
        for (Bytes message = 0; message < operation.window.messages; ++message, data += operation.window.stride) {
            messages.push_back({data, block.bytes, world_rank(plan, operation.group, block.peer), operation.channel});
        }
        return messages;
    }

    [[nodiscard]] MaybeItem grouped(Exchange const& exchange) const {
        GroupedCall call{of(exchange.group), {}, {}};
        int const channel = call.communicator == communicators.world ? Transfer::of_all_ranks : Transfer::no_channel;
        for (Block const& block : exchange.send) {
            call.sends.push_back({buffers.base[exchange.send_buffer] + block.offset, block.bytes, block.peer, channel});
        }
        for (Block const& block : exchange.recv) {
            call.receives.push_back(
                {buffers.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer, channel});
        }
        return done(std::move(call));
    }

    [[nodiscard]] MaybeItem uniform(Exchange const& exchange) const {
        auto const send = packed(exchange.send, size(exchange.group));
        auto const recv = packed(exchange.recv, size(exchange.group));
        if (!send || !recv) {
            return cannot("ncclAlltoAll needs equal packed blocks; method grouped takes ragged ones");
        }
        return done(CollectiveCall{OperationKind::exchange, of(exchange.group),
                                   buffers.base[exchange.send_buffer] + send->offset,
                                   buffers.base[exchange.recv_buffer] + recv->offset, send->block_bytes});
    }
};

bool is_channel(int number) {
    return number >= 0;
}

std::string text_of(int channel) {
    return is_channel(channel) ? fmt::format("on channel {}", channel) : "in an exchange of all ranks";
}

class Orderer {
public:
    explicit Orderer(ChannelOrder const& arriving) : arriving_(arriving) {}

    std::string order(std::vector<Transfer>& receives) {
        for (std::size_t i = 0; i < receives.size(); ++i) {
            if (receives[i].channel == Transfer::no_channel) {
                continue;
            }
            Rank const peer = receives[i].peer;
            int const channel = next_channel(peer);
            // The first of this channel that is left: a channel keeps its order.
            auto const found = std::find_if(
                receives.begin() + static_cast<std::ptrdiff_t>(i), receives.end(),
                [&](Transfer const& receive) { return receive.peer == peer && receive.channel == channel; });
            if (found == receives.end()) {
                return fmt::format("rank {} sends {} before what is received first, {}; NCCL pairs messages by their "
                                   "order",
                                   peer, text_of(channel), text_of(receives[i].channel));
            }
            std::rotate(receives.begin() + static_cast<std::ptrdiff_t>(i), found, found + 1);
        }
        return "";
    }

private:
    int next_channel(Rank peer) {
        auto const found = arriving_.find(peer);
        std::size_t const place = taken_[peer]++;
        return found == arriving_.end() || place >= found->second.size() ? Transfer::no_channel : found->second[place];
    }

    ChannelOrder const& arriving_;
    std::map<Rank, std::size_t> taken_;
};

using ItemIndex = std::optional<std::size_t>;  // in the list of items; nothing sorts first

/// A message's kind, peer in the world and channel: messages that are alike in these keep their order.
using MessageKind = std::tuple<bool, Rank, int>;

std::optional<MessageKind> message_kind_of(Item const& item) {
    auto const* const group = std::get_if<GroupedCall>(&item.work);
    if (group == nullptr || group->sends.empty() == group->receives.empty()) {
        return std::nullopt;
    }
    Transfer const& transfer = group->sends.empty() ? group->receives.front() : group->sends.front();
    return is_channel(transfer.channel)
               ? std::optional(MessageKind{group->sends.empty(), transfer.peer, transfer.channel})
               : std::nullopt;
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

    /// What belongs to no step.
    void add(OneSidedCall call) {
        if (!call.writes.empty() || !call.waits.empty()) {
            run_.clear();
            items_.push_back({{}, std::move(call)});
        }
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
    if (settings.one_sided != nullptr) {
        translator.add(settings.one_sided->grants());
    }
    for (StepId const step : stream_order(plan)) {
        if (settings.one_sided != nullptr) {
            translator.add(settings.one_sided->permissions_for(step));
        }
        Expected<Item, Unsupported> made =
            std::visit(CallOfStep{plan, step, buffers, communicators, settings}, plan.steps[step].operation);
        if (!made) {
            return made.error();
        }
        translator.add(step, std::move(made).value());
    }
    return std::move(translator).finish();
}

ChannelOrder channels_sent(std::vector<Item> const& items) {
    ChannelOrder sent;
    for (Item const& item : items) {
        if (auto const* group = std::get_if<GroupedCall>(&item.work)) {
            for (Transfer const& send : group->sends) {
                if (send.channel != Transfer::no_channel) {
                    sent[send.peer].push_back(send.channel);
                }
            }
        }
    }
    return sent;
}

ChannelOrder channels_arriving(Bootstrap& bootstrap, ChannelOrder const& sent) {
    std::vector<PeerBlob> outgoing;
    for (auto const& [peer, channels] : sent) {
        outgoing.push_back({peer, blob_of(channels)});
    }
    ChannelOrder arriving;
    for (PeerBlob const& each : bootstrap.exchange(std::move(outgoing))) {
        arriving[each.peer] = values_in<int>(each.blob);
    }
    return arriving;
}

std::set<Rank> message_peers(Rank me, ChannelOrder const& sent, ChannelOrder const& arriving) {
    std::set<Rank> peers;
    for (ChannelOrder const* const order : {&sent, &arriving}) {
        for (auto const& [peer, channels] : *order) {
            if (std::any_of(channels.begin(), channels.end(), is_channel)) {
                peers.insert(peer);
            }
        }
    }
    peers.erase(me);
    return peers;
}

std::string take_as_sent(std::vector<Item>& items, ChannelOrder const& arriving) {
    Orderer orderer(arriving);
    for (Item& item : items) {
        if (auto* group = std::get_if<GroupedCall>(&item.work)) {
            if (std::string problem = orderer.order(group->receives); !problem.empty()) {
                return problem;
            }
        }
    }
    return "";
}

}  // namespace dlmb::nccl

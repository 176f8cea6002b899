// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/messages.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace dlmb {
namespace {

/// The rounds of a collective among `ranks`; one where there is no message, so that each step has a tag of its own.
std::size_t rounds_of(Operation const& operation, std::size_t ranks) {
    switch (kind_of(operation)) {
    case OperationKind::all_reduce:
        return std::max<std::size_t>(2 * (ranks - 1), 1);
    case OperationKind::reduce_scatter:
        return std::max<std::size_t>(ranks - 1, 1);
    case OperationKind::barrier: {
        std::size_t rounds = 1;
        for (std::size_t distance = 2; distance < ranks; distance *= 2) {
            ++rounds;
        }
        return rounds;
    }
    default:
        return 1;
    }
}

constexpr int channel_of_puts = -1;   // those of Sends are from 0 on
constexpr int channel_of_reads = -2;  // flags that tell who offered that its blocks are read

/// How many messages went one way between two ranks in one channel.
class Streams {
public:
    /// Counts the messages of `step`, which go to or come from `peer`; returns how many there were before.
    Bytes count(bool sends, Rank peer, int channel, Bytes messages) {
        Bytes& counted = counts_[{sends, peer, channel}];
        return std::exchange(counted, counted + messages);
    }
    /// `visit`: channel, messages of one direction to or from one rank.
    template <class Visit>
    void each(Visit visit) const {
        for (auto const& [stream, messages] : counts_) {
            visit(std::get<2>(stream), messages);
        }
    }

private:
    std::map<std::tuple<bool, Rank, int>, Bytes> counts_;
};

/// Makes the messages of one rank's steps.
class MessageLowering {
public:
    MessageLowering(Plan const& plan, std::map<int, std::uint64_t> const& channels)
        : plan_(plan), channels_(channels) {}

    /// `tag`: the first one of a collective.
    std::span<Message const> of(Operation const& operation, std::uint64_t tag) {
        messages_.clear();
        round_ = 0;
        tag_ = tag;
        std::visit(*this, operation);
        return messages_;
    }

    void operator()(Exchange const& step) {
        add_blocks(false, step.group, step.recv);
        add_blocks(true, step.group, step.send);
    }
    void operator()(Send const& step) { window(true, step, step.to); }
    void operator()(Recv const& step) { window(false, step, step.from); }
    // Chunk indices run so that a rank forwards what it has just received: in round t of a reduce-scatter that leaves
    // chunk r on rank r it sends chunk r - 1 - t. The all-gather after it goes on with the finished chunk: r - t.
    void operator()(Collective const& step) {
        if (step.kind == OperationKind::reduce_scatter) {
            ring(step.group, 1,
                 [shares = shares_of(plan_, step)](std::size_t chunk) { return shares.of(static_cast<Rank>(chunk)); });
        } else if (step.kind == OperationKind::all_reduce) {
            Bytes const ranks = plan_.groups[step.group].members.size();
            auto const chunk_bytes = [&](std::size_t chunk) {
                return ring_chunk(step, ranks, static_cast<Rank>(chunk));
            };
            ring(step.group, 1, chunk_bytes);
            ring(step.group, 0, chunk_bytes);
        } else {
            (*this)(direct_blocks(plan_, step));
        }
    }
    // Dissemination: in round k a rank has heard of 2^k others.
    void operator()(Barrier const& step) {
        std::vector<Rank> const& members = plan_.groups[step.group].members;
        auto const me = static_cast<std::size_t>(my_place(step.group));
        for (std::size_t distance = 1; distance < members.size(); distance *= 2) {
            add(false, members[(me + members.size() - distance) % members.size()], 1);
            add(true, members[(me + distance) % members.size()], 1);
            ++round_;
        }
    }
    void operator()(Put const& step) { signalled(true, step, step.send); }
    void operator()(WaitSignal const& step) { signalled(false, step, step.recv); }
    void operator()(Compute const& /*step*/) {}

private:
    [[nodiscard]] Rank world(GroupId group, Rank peer) const { return world_rank(plan_, group, peer); }
    [[nodiscard]] Rank my_place(GroupId group) const { return rank_in(plan_.groups[group], plan_.me).value(); }

    /// Of a collective.
    void add(bool sends, Rank peer, Bytes bytes) {
        if (peer != plan_.me && bytes > 0) {
            messages_.push_back({sends, peer, bytes, tag_ + static_cast<std::uint64_t>(round_), round_});
        }
    }
    /// The next rank comes first, as backends post: else all ranks would send to rank 0 at once.
    void add_blocks(bool sends, GroupId group, std::span<Block const> blocks) {
        auto const next = std::partition_point(blocks.begin(), blocks.end(),
                                               [me = my_place(group)](Block const& block) { return block.peer <= me; });
        for (std::span<Block const> const part : {std::span(next, blocks.end()), std::span(blocks.begin(), next)}) {
            for (Block const& block : part) {
                add(sends, world(group, block.peer), block.bytes);
            }
        }
    }
    template <class Step>
    void window(bool sends, Step const& step, Block const& block) {
        Rank const peer = world(step.group, block.peer);
        Bytes const before = streams_.count(sends, peer, step.channel, step.window.messages);
        for (Bytes message = 0; message < step.window.messages && peer != plan_.me; ++message) {
            messages_.push_back({sends, peer, block.bytes, channels_.at(step.channel) + before + message, 0});
        }
    }
    void signalled(bool sends, auto const& step, std::span<Block const> blocks) {
        std::vector<Message> flags_back;  // when all is read
        for_each_signal(step.signals, blocks, [&](Signal const& signal, std::span<Block const> before, std::size_t) {
            Rank const peer = world(step.group, signal.peer);
            if (peer == plan_.me) {
                return;
            }
            std::uint64_t tag =
                channels_.at(channel_of_puts) + streams_.count(sends, peer, channel_of_puts, before.size() + 1);
            for (Block const& block : before) {
                messages_.push_back({sends, peer, block.bytes, tag++, 0});
            }
            messages_.push_back({sends, peer, flag_bytes, tag, 0});
            if (is_read(step.kind)) {
                tag = channels_.at(channel_of_reads) + streams_.count(!sends, peer, channel_of_reads, 1);
                flags_back.push_back({!sends, peer, flag_bytes, tag, 1});
            }
        });
        messages_.insert(messages_.end(), flags_back.begin(), flags_back.end());
    }
    /// One pass around the ring: every rank sends a chunk to the next one and gets one from the previous, ranks - 1
    /// times, each round after the one before it.
    template <class ChunkBytes>
    void ring(GroupId group, std::size_t first_behind, ChunkBytes chunk_bytes) {
        std::vector<Rank> const& members = plan_.groups[group].members;
        std::size_t const ranks = members.size();
        auto const me = static_cast<std::size_t>(my_place(group));
        for (std::size_t round = 0; round + 1 < ranks; ++round, ++round_) {
            std::size_t const sent = me + 2 * ranks - first_behind - round;
            add(false, members[(me + ranks - 1) % ranks], chunk_bytes((sent - 1) % ranks));
            add(true, members[(me + 1) % ranks], chunk_bytes(sent % ranks));
        }
    }

    Plan const& plan_;
    std::map<int, std::uint64_t> const& channels_;
    Streams streams_;
    std::uint64_t tag_ = 0;
    int round_ = 0;
    std::vector<Message> messages_;
};

}  // namespace

Bytes ring_chunk(Collective const& step, Bytes ranks, Rank chunk) {
    Bytes const elements = step.bytes / size_of(step.element);
    return (elements / ranks + (static_cast<Bytes>(chunk) < elements % ranks ? 1 : 0)) * size_of(step.element);
}

Messages::Messages(PlanSource const& plans) {
    std::vector<GroupTags*> groups;
    plans.each([&](Plan const& plan) {
        std::vector<std::uint64_t> needed(plan.groups.size(), 0);
        Streams streams;
        for (Step const& step : plan.steps) {
            if (auto const* send = std::get_if<Send>(&step.operation)) {
                streams.count(true, world_rank(plan, send->group, send->to.peer), send->channel, send->window.messages);
            }
            for (Signal const& signal : signals_of(step.operation)) {
                Rank const peer = world_rank(plan, *group_of(step.operation), signal.peer);
                if (std::holds_alternative<Put>(step.operation)) {
                    streams.count(true, peer, channel_of_puts, signal.blocks + 1);
                } else if (is_read(kind_of(step.operation))) {
                    streams.count(true, peer, channel_of_reads, 1);
                }
            }
            if (auto const group = collective_group(step.operation)) {
                needed.at(*group) += rounds_of(step.operation, plan.groups[*group].members.size());
            }
        }
        streams.each([&](int channel, Bytes messages) {
            channels_[channel] = std::max<std::uint64_t>(channels_[channel], messages);
        });
        for (std::size_t group = 0; group < plan.groups.size(); ++group) {
            auto const [place, added] = collectives_.try_emplace(plan.groups[group].members);
            if (added) {
                place->second.count = needed[group];
                groups.push_back(&place->second);
            }
        }
    });
    std::uint64_t next = 1;
    auto const take = [&](std::uint64_t tags) {
        if (tags > most_message_tag - next) {
            throw UsageError(fmt::format(
                "the plans need more than {} different tags for their messages; take one phase", most_message_tag));
        }
        return std::exchange(next, next + tags);
    };
    for (auto& [channel, tag] : channels_) {
        tag = take(tag);
    }
    for (GroupTags* const group : groups) {
        group->first = take(group->count);
    }
}

std::vector<std::uint64_t> Messages::tags_of(Plan const& plan) const {
    std::vector<std::uint64_t> next;
    for (Group const& group : plan.groups) {
        next.push_back(collectives_.at(group.members).first);
    }
    std::vector<std::uint64_t> tags;
    for (Step const& step : plan.steps) {
        auto const group = collective_group(step.operation);
        tags.push_back(group ? next.at(*group) : 0);
        if (group) {
            next.at(*group) += rounds_of(step.operation, plan.groups[*group].members.size());
        }
    }
    return tags;
}

std::map<std::vector<Rank>, std::size_t> Messages::group_numbers() const {
    std::map<std::vector<Rank>, std::size_t> numbers;
    for (auto const& [members, tags] : collectives_) {
        if (tags.count > 0) {
            numbers.emplace_hint(numbers.end(), members, numbers.size());
        }
    }
    return numbers;
}

void Messages::each(Plan const& plan, std::function<void(StepId, std::span<Message const>)> const& visit) const {
    std::vector<std::uint64_t> const tags = tags_of(plan);
    MessageLowering lowering(plan, channels_);
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        visit(static_cast<StepId>(id), lowering.of(plan.steps[id].operation, tags[id]));
    }
}

}  // namespace dlmb

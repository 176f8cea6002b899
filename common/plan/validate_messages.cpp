// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pairs up sends and receives: the k-th send of a (source, destination, channel) with the k-th receive of it.
#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace dlmb::validation {
namespace {

struct Message {
    Rank source = 0;
    Rank destination = 0;
    int channel = 0;
    Bytes bytes = 0;
    SharedGroupId group = 0;
    Party party;
    [[nodiscard]] auto key() const { return std::tie(source, destination, channel); }
};

struct Messages {
    std::vector<Message> sends, recvs;
};

Messages collect(std::span<Plan const> plans, GroupIndex const& index) {
    Messages messages;
    for (Plan const& plan : plans) {
        for (std::size_t id = 0; id < plan.steps.size(); ++id) {
            Party const party{plan.me, static_cast<StepId>(id)};
            auto const world = [&](GroupId group, Rank peer) {
                return plan.groups[group].members[static_cast<std::size_t>(peer)];
            };
            if (auto const* send = std::get_if<Send>(&plan.steps[id].operation)) {
                messages.sends.push_back({plan.me, world(send->group, send->to.peer), send->channel, send->to.bytes,
                                          index.of(plan.me, send->group), party});
            } else if (auto const* recv = std::get_if<Recv>(&plan.steps[id].operation)) {
                messages.recvs.push_back({world(recv->group, recv->from.peer), plan.me, recv->channel, recv->from.bytes,
                                          index.of(plan.me, recv->group), party});
            }
        }
    }
    // Stable: messages of one key come from one plan and stay in its order.
    auto const by_key = [](Message const& a, Message const& b) { return a.key() < b.key(); };
    std::stable_sort(messages.sends.begin(), messages.sends.end(), by_key);
    std::stable_sort(messages.recvs.begin(), messages.recvs.end(), by_key);
    return messages;
}

class MessageMatcher {
public:
    MessageMatcher(std::span<Plan const> plans, Problems& problems) : plans_(plans), problems_(problems) {}

    void match(Messages const& messages) {
        auto send = messages.sends.begin();
        auto recv = messages.recvs.begin();
        while (send != messages.sends.end() || recv != messages.recvs.end()) {
            if (recv == messages.recvs.end() || (send != messages.sends.end() && send->key() < recv->key())) {
                fail(*send++, "sends {} B to rank {} on channel {}, which has no receive for it", false);
            } else if (send == messages.sends.end() || recv->key() < send->key()) {
                fail(*recv++, "expects {} B from rank {} on channel {}, which has no send for it", true);
            } else {
                pair_up(*send++, *recv++);
            }
        }
    }

    std::vector<Meeting> meetings;

private:
    [[nodiscard]] Plan const& plan(Party const& party) const { return plans_[static_cast<std::size_t>(party.rank)]; }

    [[nodiscard]] std::string name(Party const& party) const { return name_of(plan(party), party.step); }

    void fail(Message const& message, fmt::string_view text, bool is_recv) {
        Rank const peer = is_recv ? message.source : message.destination;
        report(problems_, plan(message.party), message.party.step,
               fmt::format(fmt::runtime(text), message.bytes, peer, message.channel));
    }

    void pair_up(Message const& send, Message const& recv) {
        if (send.bytes != recv.bytes) {
            report(problems_, plan(recv.party), recv.party.step,
                   fmt::format("expects {} B from rank {} on channel {}, {} sends {} B", recv.bytes, recv.source,
                               recv.channel, name(send.party), send.bytes));
        } else if (send.group != recv.group) {
            report(problems_, plan(recv.party), recv.party.step,
                   fmt::format("is on another group than {}", name(send.party)));
        }
        meetings.push_back({send.party, recv.party});
    }

    std::span<Plan const> plans_;
    Problems& problems_;
};

}  // namespace

std::vector<Meeting> match_messages(std::span<Plan const> all_ranks, GroupIndex const& index, Problems& problems) {
    MessageMatcher matcher(all_ranks, problems);
    matcher.match(collect(all_ranks, index));
    return std::move(matcher.meetings);
}

}  // namespace dlmb::validation

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pairs up the steps of all ranks: the k-th collective of a group on one member with the k-th on every other member,
// and the k-th send of a channel with the k-th receive.
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/validation.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace dlmb::validation {
namespace {

/// Everything that must be equal on all members, as a value and as words.
struct CollectiveSignature {
    OperationKind kind = OperationKind::exchange;
    std::string_view label;
    Bytes bytes = 0;
    Element element = Element::byte;
    Reduction reduction = Reduction::sum;
    Rank root = 0;
    std::span<Bytes const> shares = {};
    bool operator==(CollectiveSignature const& other) const {
        return std::tie(kind, label, bytes, element, reduction, root) ==
                   std::tie(other.kind, other.label, other.bytes, other.element, other.reduction, other.root) &&
               std::equal(shares.begin(), shares.end(), other.shares.begin(), other.shares.end());
    }
};

CollectiveSignature signature_of(Step const& step) {
    CollectiveSignature signature{.kind = kind_of(step.operation), .label = step.label};
    if (auto const* collective = std::get_if<Collective>(&step.operation)) {
        signature.bytes = collective->bytes;
        signature.element = collective->element;
        signature.reduction = reduces(collective->kind) ? collective->reduction : signature.reduction;
        signature.root = has_root(collective->kind) ? collective->root : 0;
        signature.shares = collective->shares;
    }
    return signature;
}

std::string describe(Step const& step) {
    CollectiveSignature const signature = signature_of(step);
    if (!std::holds_alternative<Collective>(step.operation)) {
        return std::holds_alternative<Exchange>(step.operation) ? "an exchange" : "a barrier";
    }
    std::string text =
        fmt::format("{} of {} B {}", name_of(signature.kind), signature.bytes, name_of(signature.element));
    if (reduces(signature.kind)) {
        text += fmt::format(" {}", name_of(signature.reduction));
    }
    if (has_root(signature.kind)) {
        bool const sends = facts_of(signature.kind).root == RootRole::sends;
        text += fmt::format(" {} group rank {}", sends ? "from" : "to", signature.root);
    }
    if (!signature.shares.empty()) {
        constexpr std::size_t shown = 8;
        text += fmt::format(" in shares of {}{}",
                            fmt::join(signature.shares.first(std::min(shown, signature.shares.size())), " "),
                            signature.shares.size() > shown ? " ..." : "");
    }
    return text;
}

std::string members_text(Group const& group) {
    constexpr std::size_t shown = 8;
    std::span<Rank const> const first = std::span(group.members).first(std::min(shown, group.members.size()));
    return fmt::format("[{}{}]", fmt::join(first, " "), group.members.size() > shown ? " ..." : "");
}

struct PostedMessage {
    Rank source = 0;
    Rank destination = 0;
    int channel = 0;
    Bytes bytes = 0;
    MessageWindow window;
    SharedGroupId group = 0;
    RankStep rank_step;
    [[nodiscard]] auto key() const { return std::tie(source, destination, channel); }
};

struct PostedMessages {
    std::vector<PostedMessage> sends, recvs;
};

PostedMessages collect(std::span<Plan const> plans, GroupIndex const& index) {
    PostedMessages messages;
    for (Plan const& plan : plans) {
        for (std::size_t id = 0; id < plan.steps.size(); ++id) {
            RankStep const rank_step{plan.me, static_cast<StepId>(id)};
            if (auto const* send = std::get_if<Send>(&plan.steps[id].operation)) {
                messages.sends.push_back({plan.me, world_rank(plan, send->group, send->to.peer), send->channel,
                                          send->to.bytes, send->window, index.of(plan.me, send->group), rank_step});
            } else if (auto const* recv = std::get_if<Recv>(&plan.steps[id].operation)) {
                messages.recvs.push_back({world_rank(plan, recv->group, recv->from.peer), plan.me, recv->channel,
                                          recv->from.bytes, recv->window, index.of(plan.me, recv->group), rank_step});
            }
        }
    }
    // Stable: messages of one key come from one plan and stay in its order.
    auto const by_key = [](PostedMessage const& a, PostedMessage const& b) { return a.key() < b.key(); };
    std::stable_sort(messages.sends.begin(), messages.sends.end(), by_key);
    std::stable_sort(messages.recvs.begin(), messages.recvs.end(), by_key);
    return messages;
}

class Matcher {
public:
    Matcher(std::span<Plan const> plans, Problems& problems) : plans_(plans), problems_(problems) {}

    void match(SharedGroup const& shared) {
        if (!known_to_all(shared)) {
            return;
        }
        std::size_t const count = common_count(shared);
        for (std::size_t k = 0; k < count; ++k) {
            MatchedSteps match;
            for (std::size_t i = 0; i < shared.group->members.size(); ++i) {
                match.push_back({shared.group->members[i], shared.steps[i]->at(k)});
            }
            if (!alike(match)) {
                return;  // the rest of this group's order is shifted: each further line would repeat this one
            }
            if (std::holds_alternative<Exchange>(step(match.front()).operation)) {
                match_blocks(match);
                match_rows(match);
                match_places(match);
            }
            matches.push_back(std::move(match));
        }
    }

    void match(PostedMessages const& messages) {
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

    std::vector<MatchedSteps> matches;

private:
    [[nodiscard]] Plan const& plan(RankStep const& rank_step) const {
        return plans_[static_cast<std::size_t>(rank_step.rank)];
    }
    [[nodiscard]] Step const& step(RankStep const& rank_step) const { return plan(rank_step).steps[rank_step.step]; }

    [[nodiscard]] std::string name(RankStep const& rank_step) const { return name_of(plan(rank_step), rank_step.step); }

    void fail(PostedMessage const& message, fmt::string_view text, bool is_recv) {
        Rank const peer = is_recv ? message.source : message.destination;
        report(problems_, plan(message.rank_step), message.rank_step.step,
               fmt::format(fmt::runtime(text), message.bytes, peer, message.channel));
    }

    void pair_up(PostedMessage const& send, PostedMessage const& recv) {
        if (send.bytes != recv.bytes) {
            report(problems_, plan(recv.rank_step), recv.rank_step.step,
                   fmt::format("expects {} B from rank {} on channel {}, {} sends {} B", recv.bytes, recv.source,
                               recv.channel, name(send.rank_step), send.bytes));
        } else if (send.window != recv.window) {
            report(problems_, plan(recv.rank_step), recv.rank_step.step,
                   fmt::format("expects {} messages {} B apart from rank {}, {} sends {} that are {} B apart",
                               recv.window.messages, recv.window.stride, recv.source, name(send.rank_step),
                               send.window.messages, send.window.stride));
        } else if (send.group != recv.group) {
            report(problems_, plan(recv.rank_step), recv.rank_step.step,
                   fmt::format("is on another group than {}", name(send.rank_step)));
        }
        matches.push_back({send.rank_step, recv.rank_step});
    }

    bool known_to_all(SharedGroup const& shared) {
        auto const missing = std::find(shared.steps.begin(), shared.steps.end(), std::nullopt);
        if (missing == shared.steps.end()) {
            return true;
        }
        Rank const lacks = shared.group->members[static_cast<std::size_t>(missing - shared.steps.begin())];
        auto const found =
            std::find_if(shared.steps.begin(), shared.steps.end(), [](auto const& s) { return s.has_value(); });
        Rank const has = shared.group->members[static_cast<std::size_t>(found - shared.steps.begin())];
        problems_.push_back({lacks, 0,
                             fmt::format("rank {} does not have the group {} of rank {}, of which it is a member",
                                         lacks, members_text(*shared.group), has)});
        return false;
    }

    /// Collective steps that every member has; says so when a member has more or fewer than the first one.
    std::size_t common_count(SharedGroup const& shared) {
        std::size_t common = shared.steps.front()->size();
        std::size_t const expected = common;
        for (std::size_t i = 1; i < shared.steps.size(); ++i) {
            std::size_t const count = shared.steps[i]->size();
            common = std::min(common, count);
            if (count != expected) {
                Rank const rank = shared.group->members[i];
                problems_.push_back(
                    {rank, 0,
                     fmt::format("rank {} has {} collective steps on group {}, rank {} has {}", rank, count,
                                 members_text(*shared.group), shared.group->members.front(), expected)});
            }
        }
        return common;
    }

    bool alike(MatchedSteps const& match) {
        Step const& first = step(match.front());
        CollectiveSignature const expected = signature_of(first);
        bool all = true;
        for (RankStep const& rank_step : match) {
            Step const& other = step(rank_step);
            if (signature_of(other) != expected) {
                all = false;
                report(problems_, plan(rank_step), rank_step.step,
                       fmt::format("is {} where {} is {}", describe(other), name(match.front()), describe(first)));
            }
        }
        return all;
    }

    /// Rows that lie apart do so on both sides, and are equally long.
    void match_rows(MatchedSteps const& match) {
        auto const row_bytes = [&](std::size_t rank) {
            auto const& rows = std::get<Exchange>(step(match[rank]).operation).scattered;
            return rows ? rows->row_bytes : 0;
        };
        for (std::size_t rank = 1; rank < match.size(); ++rank) {
            if (row_bytes(rank) != row_bytes(0)) {
                report(problems_, plan(match[rank]), match[rank].step,
                       fmt::format("has rows of {} B that lie apart, that of rank {} has such of {} B (0: none)",
                                   row_bytes(rank), match[0].rank, row_bytes(0)));
                return;
            }
        }
    }

    void match_places(MatchedSteps const& match) {
        auto const exchange = [&](RankStep const& each) -> Exchange const& {
            return std::get<Exchange>(step(each).operation);
        };
        auto const in_place = [&](RankStep const& each) {
            return !plan(each).buffers.empty() && exchange(each).in_place();
        };
        RankStep const* first = nullptr;  // with blocks: a rank without any fits both
        for (RankStep const& each : match) {
            if (exchange(each).send.empty() && exchange(each).recv.empty()) {
                continue;
            }
            first = first == nullptr ? &each : first;
            if (in_place(each) != in_place(*first)) {
                report(problems_, plan(each), each.step,
                       fmt::format("is {}in place, that of rank {} is{}", in_place(each) ? "" : "not ", first->rank,
                                   in_place(each) ? " not" : ""));
                return;
            }
        }
    }

    /// Senders in group order meet receive lists that are ordered by sender: one pass over all blocks.
    void match_blocks(MatchedSteps const& match) {
        std::vector<std::size_t> next(match.size(), 0);
        for (std::size_t sender = 0; sender < match.size(); ++sender) {
            for (Block const& sent : std::get<Exchange>(step(match[sender]).operation).send) {
                auto const receiver = static_cast<std::size_t>(sent.peer);
                std::vector<Block> const& expected = std::get<Exchange>(step(match[receiver]).operation).recv;
                std::size_t& cursor = next[receiver];
                for (; cursor < expected.size() && expected[cursor].peer < static_cast<Rank>(sender); ++cursor) {
                    fail_recv(match, receiver, expected[cursor], 0);
                }
                if (cursor == expected.size() || expected[cursor].peer > static_cast<Rank>(sender)) {
                    report(problems_, plan(match[sender]), match[sender].step,
                           fmt::format("sends {} B to rank {}, rank {} expects 0 B", sent.bytes, match[receiver].rank,
                                       match[receiver].rank));
                    continue;
                }
                if (expected[cursor].bytes != sent.bytes) {
                    fail_recv(match, receiver, expected[cursor], sent.bytes);
                }
                ++cursor;
            }
        }
        for (std::size_t receiver = 0; receiver < match.size(); ++receiver) {
            std::vector<Block> const& expected = std::get<Exchange>(step(match[receiver]).operation).recv;
            for (std::size_t cursor = next[receiver]; cursor < expected.size(); ++cursor) {
                fail_recv(match, receiver, expected[cursor], 0);
            }
        }
    }

    void fail_recv(MatchedSteps const& match, std::size_t receiver, Block const& expected, Bytes sent) {
        Rank const sender = match[static_cast<std::size_t>(expected.peer)].rank;
        report(problems_, plan(match[receiver]), match[receiver].step,
               fmt::format("expects {} B from rank {}, rank {} sends {} B", expected.bytes, sender, sender, sent));
    }

    std::span<Plan const> plans_;
    Problems& problems_;
};

}  // namespace

std::vector<MatchedSteps> match_steps(std::span<Plan const> all_ranks, Problems& problems) {
    GroupIndex const index(all_ranks);
    Matcher matcher(all_ranks, problems);
    for (SharedGroup const& shared : index.groups()) {
        matcher.match(shared);
    }
    matcher.match(collect(all_ranks, index));
    return std::move(matcher.matches);
}

}  // namespace dlmb::validation

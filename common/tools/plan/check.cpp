// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dlmb::trace {
namespace {

constexpr std::size_t most_mismatches = 20;

using TraceCalls = std::vector<TraceOperation const*>;
using CountsBySize = std::map<Bytes, std::uint64_t>;  // how many of a size
using RankPair = std::pair<Rank, Rank>;               // from, to
using UnmatchedReceives = std::map<RankPair, std::size_t>;

/// Bytes of the vector that has one size on all ranks; 0: there is none.
Bytes vector_of(TraceOperation const& operation) {
    if (reduces(operation.kind)) {
        return operation.sent;
    }
    return operation.kind == OperationKind::all_gather  ? operation.received
           : operation.kind == OperationKind::broadcast ? std::max(operation.sent, operation.received)
                                                        : 0;
}

/// Without a root, each rank lists the parts of all.
bool same_parts(TraceOperation const& one, TraceOperation const& other) {
    return !has_parts(one.kind) || has_root(one.kind) || parts_of(one) == parts_of(other);
}

constexpr std::int64_t any_tag = -1;

/// The sends of one rank to another in one communicator that no receive has taken.
class OpenSends {
public:
    void add(TraceOperation const& send) {
        all_.insert(sends_.size());
        by_tag_[send.tag].insert(sends_.size());
        sends_.push_back(&send);
    }
    /// The first one of this tag, or the first where it is `any_tag`.
    TraceOperation const* take(std::int64_t tag) {
        auto const& places = tag == any_tag ? all_ : by_tag_[tag];
        if (places.empty()) {
            return nullptr;
        }
        std::size_t const place = *places.begin();
        by_tag_[sends_[place]->tag].erase(place);
        all_.erase(place);
        return sends_[place];
    }

private:
    std::vector<TraceOperation const*> sends_;
    std::set<std::size_t> all_;  // places in `sends_`
    std::map<std::int64_t, std::set<std::size_t>> by_tag_;
};

/// The messages of one rank to another.
struct PairCalls {
    std::vector<TraceOperation*> sends;
    std::vector<TraceOperation*> receives;
};

std::set<int> communicators_of(std::vector<TraceOperation*> const& calls) {
    std::set<int> communicators;
    for (TraceOperation const* call : calls) {
        communicators.insert(call->communicator);
    }
    return communicators;
}

/// In a plan, tags alone tell messages apart: a tag that two communicators have gets another number in one of them.
void tell_communicators_apart(PairCalls const& pair) {
    std::map<std::pair<int, std::int64_t>, std::int64_t> tags;
    std::set<std::int64_t> taken;
    for (auto const* calls : {&pair.sends, &pair.receives}) {
        for (TraceOperation* call : *calls) {
            if (call->tag == any_tag) {
                continue;
            }
            auto const [known, is_new] = tags.try_emplace({call->communicator, call->tag}, call->tag);
            if (is_new && !taken.insert(call->tag).second) {
                known->second = *taken.rbegin() + 1;
                taken.insert(known->second);
            }
            call->tag = known->second;
        }
    }
}

/// Returns how many receives have no send.
std::size_t match(Trace& trace, PairCalls const& pair) {
    auto const senders = communicators_of(pair.sends);
    auto const receivers = communicators_of(pair.receives);
    bool const same = senders == receivers;
    if (same && senders.size() > 1) {
        tell_communicators_apart(pair);
    } else if (!same && (senders.size() > 1 || receivers.size() > 1)) {
        trace.notes["messages in several communicators, which two ranks name differently, are matched by tag alone"] +=
            pair.sends.size();
    }
    std::map<int, OpenSends> open;
    for (TraceOperation const* send : pair.sends) {
        open[same ? send->communicator : 0].add(*send);
    }
    std::size_t without = 0;
    for (TraceOperation* receive : pair.receives) {
        auto const* const send = open[same ? receive->communicator : 0].take(receive->tag);
        without += send == nullptr ? 1 : 0;
        receive->tag = send == nullptr ? receive->tag : send->tag;
        if (trace.format == "pmpi") {
            receive->received = std::min(receive->received, send == nullptr ? 0 : send->sent);
        }
    }
    return without;
}

/// A receive of MPI may take any tag, and says how much there is room for, as one of GOAL may take any tag: it gets tag
/// and bytes of the send that MPI's order gives it, and no bytes where there is none. Returns how many of two ranks
/// have no send.
UnmatchedReceives match_messages(Trace& trace) {
    std::map<RankPair, PairCalls> pairs;
    for (RankProgram& program : trace.programs) {
        for (TraceOperation& operation : program.operations) {
            Rank const rank = program.ranks.front();
            if (operation.kind == OperationKind::send && operation.peer) {
                pairs[{rank, *operation.peer}].sends.push_back(&operation);
            } else if (operation.kind == OperationKind::recv && operation.peer) {
                pairs[{*operation.peer, rank}].receives.push_back(&operation);
            }
        }
    }
    UnmatchedReceives unmatched;
    for (auto const& [pair, calls] : pairs) {
        if (std::size_t const without = match(trace, calls); without > 0) {
            unmatched.emplace(pair, without);
        }
    }
    return unmatched;
}

class Checker {
public:
    Checker(Trace const& trace, UnmatchedReceives unmatched) : trace_(trace), unmatched_(std::move(unmatched)) {
        for (RankProgram const& program : trace.programs) {
            for (Rank const rank : program.ranks) {
                programs_.emplace(rank, &program);
            }
        }
    }

    std::vector<std::string> run() {
        collect();
        for (auto const& [members, name] : groups_) {
            check_group(members, name);
        }
        check_messages();
        return std::move(found_);
    }

private:
    template <class... Arguments>
    void report(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        if (found_.size() < most_mismatches) {
            found_.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
        }
    }

    /// Calls by group and rank, and messages by pair. Ranks of one program do the same, so that their collectives are
    /// the same, too.
    void collect() {
        for (RankProgram const& program : trace_.programs) {
            std::map<TraceGroupId, TraceCalls*> calls_in;  // of this rank
            for (TraceOperation const& operation : program.operations) {
                if (is_message(operation.kind)) {
                    for (Rank const rank : program.ranks) {
                        add_message(rank, operation);
                    }
                } else if (program.ranks.size() == 1) {
                    auto const [known, is_new] = calls_in.try_emplace(operation.group, nullptr);
                    if (is_new) {
                        known->second = calls_of(operation.group, program.ranks.front());
                    }
                    if (known->second != nullptr) {
                        known->second->push_back(&operation);
                    }
                }
            }
        }
    }

    /// Nothing where the members are unknown.
    TraceCalls* calls_of(TraceGroupId id, Rank rank) {
        TraceGroup const& group = trace_.groups.at(id);
        auto members = group.members_around(rank);
        if (members.empty()) {
            return nullptr;
        }
        groups_.emplace(members, group.name.empty() ? "of all ranks" : group.name);
        return &calls_[std::pair(std::move(members), rank)];
    }

    void add_message(Rank rank, TraceOperation const& operation) {
        bool const sends = operation.kind == OperationKind::send;
        if (!operation.peer) {
            if (!sends) {
                from_anybody_.insert(rank);
            }
            return;
        }
        Rank const peer = operation.peer_is_offset ? rank + *operation.peer : *operation.peer;
        auto& pair = messages_[sends ? std::pair(rank, peer) : std::pair(peer, rank)];
        (sends ? pair.first : pair.second)[sends ? operation.sent : operation.received] += operation.repeat;
    }

    void check_group(std::vector<Rank> const& members, std::string const& name) {
        bool const all_there =
            std::all_of(members.begin(), members.end(), [&](Rank rank) { return programs_.contains(rank); });
        if (!all_there) {
            return;
        }
        std::vector<TraceCalls const*> all;  // by member
        for (Rank const rank : members) {
            all.push_back(&calls_[std::pair(members, rank)]);
        }
        TraceCalls const& first = *all.front();
        for (std::size_t place = 0; place < members.size(); ++place) {
            TraceCalls const& calls = *all[place];
            Rank const rank = members[place];
            if (calls.size() != first.size()) {
                report("rank {} has {} collectives of group {}, rank {} has {}", rank, calls.size(), name,
                       members.front(), first.size());
                return;
            }
            for (std::size_t call = 0; call < calls.size(); ++call) {
                if (calls[call]->kind != first[call]->kind) {
                    report("collective {} of group {} is {} on rank {}, {} on rank {}", call, name,
                           name_of(calls[call]->kind), rank, name_of(first[call]->kind), members.front());
                    return;
                }
                if (vector_of(*calls[call]) != vector_of(*first[call])) {
                    report("{} {} of group {} has {} bytes on rank {}, {} on rank {}", name_of(calls[call]->kind), call,
                           name, vector_of(*calls[call]), rank, vector_of(*first[call]), members.front());
                }
                if (!same_parts(*calls[call], *first[call])) {
                    report("{} {} of group {} has other parts on rank {} than on rank {}", name_of(calls[call]->kind),
                           call, name, rank, members.front());
                }
                if (calls[call]->root != first[call]->root) {
                    report("{} {} of group {} has root {} on rank {}, {} on rank {}", name_of(calls[call]->kind), call,
                           name, calls[call]->root.value_or(-1), rank, first[call]->root.value_or(-1), members.front());
                }
            }
        }
        check_exchanges(members, all);
        check_parts(members, all);
    }

    /// In a gather or scatter each rank's part is as long as the root lists it, or else as long as the root's own. MPI
    /// ignores the size of the root's own part (MPI_IN_PLACE).
    void check_parts(std::vector<Rank> const& members, std::vector<TraceCalls const*> const& all) {
        for (std::size_t call = 0; call < all.front()->size(); ++call) {
            TraceOperation const& first = *(*all.front())[call];
            auto const kind = first.kind;
            bool const has_parts_at_root = has_root(kind) && has_parts(kind) && first.root;
            auto const root = static_cast<std::size_t>(first.root.value_or(0));
            if (!has_parts_at_root || root >= members.size()) {
                continue;
            }
            TraceOperation const& at_root = *(*all[root])[call];
            auto const& parts = parts_of(at_root);
            if (!parts.empty() && parts.size() != members.size()) {
                report("{} {}: the root, rank {}, has {} parts for {} ranks", name_of(kind), call, members[root],
                       parts.size(), members.size());
                continue;
            }
            for (std::size_t place = 0; place < members.size(); ++place) {
                Bytes const own = own_part(*(*all[place])[call]);
                Bytes const part = parts.empty() ? own_part(at_root) : parts[place];
                if (place != root && own != part) {
                    report("{} {}: rank {} has {} bytes, but the root has {} for it", name_of(kind), call,
                           members[place], own, part);
                }
            }
        }
    }

    void check_exchanges(std::vector<Rank> const& members, std::vector<TraceCalls const*> const& all) {
        for (std::size_t call = 0; call < all.front()->size(); ++call) {
            if ((*all.front())[call]->kind != OperationKind::exchange) {
                continue;
            }
            std::vector<TraceOperation const*> sides;
            for (TraceCalls const* calls : all) {
                sides.push_back((*calls)[call]);
            }
            bool const split = std::all_of(sides.begin(), sides.end(), [&](TraceOperation const* side) {
                return side->send_split.is_known(members.size()) && side->recv_split.is_known(members.size());
            });
            auto const& each = sides.front()->send_split.each;
            bool const all_equal = each && std::all_of(sides.begin(), sides.end(), [&](TraceOperation const* side) {
                                       return side->send_split.each == each && side->recv_split.each == each;
                                   });
            for (std::size_t from = 0; split && !all_equal && from < members.size(); ++from) {
                for (std::size_t to = 0; to < members.size(); ++to) {
                    Bytes const sent = sides[from]->send_split.at(to);
                    Bytes const received = sides[to]->recv_split.at(from);
                    if (sent != received) {
                        report("exchange {}: rank {} sends {} bytes to rank {}, which expects {}", call, members[from],
                               sent, members[to], received);
                    }
                }
            }
        }
    }

    void check_messages() {
        for (auto& [pair, sides] : messages_) {
            auto const& [from, to] = pair;
            if (!programs_.contains(from) || !programs_.contains(to) || from_anybody_.contains(to)) {
                continue;
            }
            auto const& [sent, received] = sides;
            if (number(sent) != number(received)) {
                report("rank {} has {} sends to rank {}, which has {} receives from it", from, number(sent), to,
                       number(received));
                continue;
            }
            if (auto const open = unmatched_.find(pair); open != unmatched_.end()) {
                report("messages of ranks {} and {} do not fit together: {} of rank {}'s receives have tags without a "
                       "send",
                       from, to, open->second, to);
                continue;
            }
            compare(from, sent, to, received);
        }
    }

    static std::uint64_t number(CountsBySize const& messages) {
        std::uint64_t sum = 0;
        for (auto const& [bytes, count] : messages) {
            sum += count;
        }
        return sum;
    }

    /// As many on both sides. By size, since tags may let them overtake each other.
    void compare(Rank from, CountsBySize const& sent, Rank to, CountsBySize const& received) {
        auto other = received.begin();
        std::uint64_t left = other == received.end() ? 0 : other->second;
        for (auto const& [bytes, count] : sent) {
            for (std::uint64_t open = count; open > 0;) {
                if (left == 0) {
                    left = (++other)->second;
                }
                if (bytes != other->first) {
                    report("send: rank {} sends {} bytes to rank {}, which expects {}", from, bytes, to, other->first);
                    return;
                }
                std::uint64_t const both = std::min(open, left);
                open -= both;
                left -= both;
            }
        }
    }

    Trace const& trace_;
    UnmatchedReceives unmatched_;
    std::map<Rank, RankProgram const*> programs_;
    std::map<std::vector<Rank>, std::string> groups_;
    std::map<std::pair<std::vector<Rank>, Rank>, TraceCalls> calls_;
    std::map<RankPair, std::pair<CountsBySize, CountsBySize>> messages_;
    std::set<Rank> from_anybody_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> mismatches(Trace& trace) {
    bool const has_tags = trace.format == "pmpi" || trace.format == "goal";
    UnmatchedReceives unmatched = has_tags ? match_messages(trace) : UnmatchedReceives();
    return Checker(trace, std::move(unmatched)).run();
}

}  // namespace dlmb::trace

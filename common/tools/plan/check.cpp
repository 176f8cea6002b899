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

bool is_collective(OperationKind kind) {
    return !is_message(kind) && kind != OperationKind::compute;
}

/// Bytes of the vector that has one size on all ranks; 0: there is none.
Bytes vector_of(TraceOperation const& operation) {
    if (reduces(operation.kind)) {
        return operation.sent;
    }
    return operation.kind == OperationKind::all_gather  ? operation.received
           : operation.kind == OperationKind::broadcast ? std::max(operation.sent, operation.received)
                                                        : 0;
}

class Checker {
public:
    explicit Checker(Trace const& trace) : trace_(trace) {
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
                if (!is_collective(operation.kind)) {
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
        groups_.emplace(members, group.name);
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
        TraceCalls const& first = calls_[std::pair(members, members.front())];
        for (Rank const rank : members) {
            TraceCalls const& calls = calls_[std::pair(members, rank)];
            if (calls.size() != first.size()) {
                report("rank {} has {} collectives of group {}, rank {} has {}", rank, calls.size(),
                       name.empty() ? "of all ranks" : name, members.front(), first.size());
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
                if (calls[call]->root != first[call]->root) {
                    report("{} {} of group {} has root {} on rank {}, {} on rank {}", name_of(calls[call]->kind), call,
                           name, calls[call]->root.value_or(-1), rank, first[call]->root.value_or(-1), members.front());
                }
            }
        }
        check_exchanges(members, first);
    }

    void check_exchanges(std::vector<Rank> const& members, TraceCalls const& first) {
        for (std::size_t call = 0; call < first.size(); ++call) {
            if (first[call]->kind != OperationKind::exchange) {
                continue;
            }
            std::vector<TraceOperation const*> sides;
            for (Rank const rank : members) {
                sides.push_back(calls_[std::pair(members, rank)][call]);
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
    std::map<Rank, RankProgram const*> programs_;
    std::map<std::vector<Rank>, std::string> groups_;
    std::map<std::pair<std::vector<Rank>, Rank>, TraceCalls> calls_;
    std::map<std::pair<Rank, Rank>, std::pair<CountsBySize, CountsBySize>> messages_;
    std::set<Rank> from_anybody_;
    std::vector<std::string> found_;
};

/// The sends of one rank to another that no receive has taken.
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
    [[nodiscard]] std::size_t left() const { return all_.size(); }

private:
    static constexpr std::int64_t any_tag = -1;
    std::vector<TraceOperation const*> sends_;
    std::set<std::size_t> all_;  // places in `sends_`
    std::map<std::int64_t, std::set<std::size_t>> by_tag_;
};

}  // namespace

std::vector<std::string> pair_messages(Trace& trace) {
    std::map<std::pair<Rank, Rank>, OpenSends> open;  // from, to
    for (RankProgram const& program : trace.programs) {
        for (TraceOperation const& operation : program.operations) {
            if (operation.kind == OperationKind::send && operation.peer) {
                open[{program.ranks.front(), *operation.peer}].add(operation);
            }
        }
    }
    std::map<std::pair<Rank, Rank>, std::size_t> without;  // receives
    for (RankProgram& program : trace.programs) {
        for (TraceOperation& operation : program.operations) {
            if (operation.kind != OperationKind::recv || !operation.peer) {
                continue;
            }
            std::pair const pair(*operation.peer, program.ranks.front());
            if (auto const* const send = open[pair].take(operation.tag); send == nullptr) {
                ++without[pair];
            } else {
                operation.tag = send->tag;
                bool const has_room = trace.format == "pmpi" && send->sent < operation.received;
                operation.received = has_room ? send->sent : operation.received;
            }
        }
    }
    std::vector<std::string> reasons;
    for (auto const& [pair, receives] : without) {
        if (receives == open[pair].left()) {  // where there are more or fewer, mismatches() says it
            reasons.push_back(fmt::format("messages of ranks {} and {} do not fit together: {} of rank {}'s receives "
                                          "have tags without a send",
                                          pair.first, pair.second, receives, pair.second));
        }
    }
    return reasons;
}

std::vector<std::string> mismatches(Trace const& trace) {
    return Checker(trace).run();
}

}  // namespace dlmb::trace

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/deadlock.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/base/hash.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace dlmb::nccl {
namespace {

using Kind = CallPart::Kind;

constexpr std::int64_t most_parts = std::int64_t{1} << 22;  // of all ranks together: 100 MB on rank 0

/// The members of the communicators that a plan uses.
class Members {
public:
    Members(Plan const& plan, CommunicatorLookup const& communicators, int ranks) {
        std::vector<Rank> world(static_cast<std::size_t>(ranks));
        std::iota(world.begin(), world.end(), 0);
        members_[communicators.world] = std::move(world);
        for (Group const& group : plan.groups) {
            members_.try_emplace(communicators.of_group(group), group.members);
        }
    }
    [[nodiscard]] std::vector<Rank> const& of(ncclComm_t communicator) const { return members_.at(communicator); }

private:
    std::unordered_map<ncclComm_t, std::vector<Rank>> members_;
};

struct PartsOfItem {
    std::uint32_t item;
    Members const& members;
    std::vector<CallPart>& parts;

    void operator()(GroupedCall const& group) const {
        std::vector<Rank> const& ranks = members.of(group.communicator);
        for (auto const& [kind, transfers] : {std::pair(Kind::send, &group.sends), {Kind::receive, &group.receives}}) {
            for (Transfer const& transfer : *transfers) {
                add(kind, ranks[static_cast<std::size_t>(transfer.peer)]);
            }
        }
    }
    void operator()(CollectiveCall const& call) const {
        std::vector<Rank> const& ranks = members.of(call.communicator);
        std::uint64_t const number =
            std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{ranks.size()}, [](std::uint64_t hash, Rank rank) {
                return fnv1a(hash, static_cast<std::uint64_t>(rank));
            });
        parts.push_back({Kind::collective, item, static_cast<std::uint32_t>(ranks.size()), number});
    }
    void operator()(OneSidedCall const& call) const {
        for (SignalledWrite const& write : call.writes) {
            add(Kind::signal, write.peer);
        }
        for (AwaitedCount const& wait : call.waits) {
            for (int signal = 0; signal < wait.count; ++signal) {
                add(Kind::wait, wait.peer);
            }
        }
    }
    void operator()(Compute const& /*compute*/) const {}

private:
    void add(Kind kind, Rank whom) const { parts.push_back({kind, item, 0, static_cast<std::uint64_t>(whom)}); }
};

/// Starts the calls of all ranks, each as soon as the one before it is complete.
class Player {
public:
    explicit Player(std::vector<std::vector<CallPart>> const& parts) : parts_(parts), ranks_(parts.size()) {
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            ready_.push_back(rank);
        }
        while (!ready_.empty()) {
            std::size_t const rank = ready_.back();
            ready_.pop_back();
            start_next(rank);
        }
    }

    [[nodiscard]] std::vector<std::optional<std::uint32_t>> waiting() const {
        std::vector<std::optional<std::uint32_t>> items;
        for (State const& state : ranks_) {
            items.push_back(state.open > 0 ? std::optional(state.item) : std::nullopt);
        }
        return items;
    }

private:
    struct State {
        std::size_t next = 0;  // part
        std::size_t open = 0;  // parts of the item that has started which are not complete
        std::uint32_t item = 0;
    };

    void start_next(std::size_t rank) {
        State& state = ranks_[rank];
        std::vector<CallPart> const& parts = parts_[rank];
        if (state.next == parts.size()) {
            return;
        }
        state.item = parts[state.next].item;
        state.open = 1;  // no part completes the item before all have started
        for (; state.next < parts.size() && parts[state.next].item == state.item; ++state.next) {
            ++state.open;
            start(rank, parts[state.next]);
        }
        complete(rank);
    }

    void start(std::size_t rank, CallPart const& part) {
        auto const peer = static_cast<std::size_t>(part.whom);
        switch (part.kind) {
        case Kind::send:
            meet(messages_[{rank, peer}], 1, rank, peer);
            break;
        case Kind::receive:
            meet(messages_[{peer, rank}], -1, rank, peer);
            break;
        case Kind::signal:
            complete(rank);
            if (++signals_[{rank, peer}] <= 0) {
                complete(peer);
            }
            break;
        case Kind::wait:
            if (--signals_[{peer, rank}] >= 0) {
                complete(rank);
            }
            break;
        case Kind::collective:
            std::vector<std::size_t>& started = collectives_[part.whom];
            started.push_back(rank);
            if (started.size() == part.members) {
                for (std::size_t const member : std::exchange(started, {})) {
                    complete(member);
                }
            }
            break;
        }
    }

    /// `balance`: sends that have started less receives that have.
    void meet(std::int64_t& balance, int change, std::size_t rank, std::size_t peer) {
        bool const met = balance * change < 0;
        balance += change;
        if (met) {
            complete(rank);
            complete(peer);
        }
    }

    void complete(std::size_t rank) {
        if (--ranks_[rank].open == 0) {
            ready_.push_back(rank);
        }
    }

    struct PairHash {
        std::size_t operator()(std::pair<std::size_t, std::size_t> const& pair) const {
            return fnv1a(fnv1a(0, pair.first), pair.second);
        }
    };
    using Balances = std::unordered_map<std::pair<std::size_t, std::size_t>, std::int64_t, PairHash>;

    std::vector<std::vector<CallPart>> const& parts_;
    std::vector<State> ranks_;
    std::vector<std::size_t> ready_;
    Balances messages_, signals_;  // by source and destination
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> collectives_;
};

/// Whether other ranks may make the calls of this one in another order. All ranks of a communicator make its
/// collectives and exchanges in one order.
bool may_differ(std::vector<Item> const& items) {
    std::set<ncclComm_t> communicators;
    std::size_t calls = 0;
    bool ordered = true;
    for (Item const& item : items) {
        if (auto const* const group = std::get_if<GroupedCall>(&item.work)) {
            communicators.insert(group->communicator);
            auto const is_message = [](Transfer const& transfer) { return transfer.channel >= 0; };
            ordered = ordered && std::none_of(group->sends.begin(), group->sends.end(), is_message) &&
                      std::none_of(group->receives.begin(), group->receives.end(), is_message);
        } else if (auto const* const collective = std::get_if<CollectiveCall>(&item.work)) {
            communicators.insert(collective->communicator);
        } else {
            ordered = ordered && item.computes();
        }
        calls += item.computes() ? 0U : 1U;
    }
    return calls > 1 && (!ordered || communicators.size() > 1);
}

}  // namespace

std::vector<CallPart> parts_of(Plan const& plan, std::vector<Item> const& items,
                               CommunicatorLookup const& communicators, int ranks) {
    Members const members(plan, communicators, ranks);
    std::vector<CallPart> parts;
    for (std::size_t i = 0; i < items.size(); ++i) {
        std::visit(PartsOfItem{static_cast<std::uint32_t>(i), members, parts}, items[i].work);
    }
    return parts;
}

std::vector<std::optional<std::uint32_t>> deadlocked(std::vector<std::vector<CallPart>> const& parts) {
    return Player(parts).waiting();
}

std::string why_deadlocked(Plan const& plan, std::vector<Item> const& items, CommunicatorLookup const& communicators,
                           Bootstrap& bootstrap) {
    if (!any_rank(bootstrap, may_differ(items))) {
        return "";
    }
    std::vector<CallPart> const own = parts_of(plan, items, communicators, bootstrap.size());
    if (reduce_over_ranks(bootstrap, static_cast<std::int64_t>(own.size()), Fold::sum) > most_parts) {
        return "";
    }
    std::vector<PeerBlob> answers;
    std::vector<PeerBlob> const arrived = bootstrap.exchange({{deciding_rank, blob_of(own)}});
    if (bootstrap.rank() == deciding_rank) {
        std::vector<std::vector<CallPart>> parts(static_cast<std::size_t>(bootstrap.size()));
        for (PeerBlob const& each : arrived) {
            parts[static_cast<std::size_t>(each.peer)] = values_in<CallPart>(each.blob);
        }
        auto const items_of_ranks = deadlocked(parts);
        for (std::size_t rank = 0; rank < items_of_ranks.size(); ++rank) {
            if (items_of_ranks[rank]) {
                answers.push_back({static_cast<Rank>(rank), blob_of(std::vector{*items_of_ranks[rank]})});
            }
        }
    }
    std::vector<PeerBlob> const answer = bootstrap.exchange(std::move(answers));
    if (answer.empty()) {
        return "";
    }
    std::vector<StepId> const& steps = items[value_in<std::uint32_t>(answer.front().blob)].steps;
    return fmt::format(
        "nccl: {} would never end: ranks make the calls of this plan in different orders, and backend nccl enqueues "
        "them all on one stream; backends mpi and ucx take any order",
        steps.empty() ? "a permission to put" : fmt::format("\"{}\"", plan.steps[steps.front()].label));
}

}  // namespace dlmb::nccl

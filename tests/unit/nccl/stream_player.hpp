// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plays what all ranks enqueue as the least helpful device would: a call starts when all before it on its stream are
// complete and what it waits for is; a message is complete when both its ends have started, a collective when all its
// ranks have. Messages between two ranks meet in the order in which they were started, as NCCL pairs them.
#pragma once

#include "tests/unit/nccl/fixture.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>

namespace dlmb::nccl {

class StreamPlayer {
public:
    /// `items`: by world rank.
    StreamPlayer(std::vector<std::vector<Item>> const& items, FakeCommunicators const& communicators)
        : items_(items), communicators_(communicators), ranks_(items.size()) {
        for (std::size_t rank = 0; rank < items.size(); ++rank) {
            for (std::size_t i = 0; i < items[rank].size(); ++i) {
                ranks_[rank].streams[items[rank][i].computes() ? 1 : 0].push_back(i);
            }
        }
        while (step()) {
        }
    }

    /// Empty: everything ends and every message meets its own other end.
    [[nodiscard]] std::string problem() const {
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            for (auto const& stream : ranks_[rank].streams) {
                if (!stream.empty()) {
                    return "rank " + std::to_string(rank) + " stands still at item " + std::to_string(stream.front());
                }
            }
        }
        return mispaired_;
    }

private:
    struct Call {
        std::size_t rank;
        std::size_t item;
    };
    struct End {
        Call call;
        Transfer transfer;
    };
    struct RankState {
        std::deque<std::size_t> streams[2];       // items that are not complete: communication, computation
        std::map<std::size_t, std::size_t> open;  // started items: parts that are not complete
        std::set<std::size_t> complete;
    };

    bool step() {
        bool moved = false;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            for (auto& stream : ranks_[rank].streams) {
                moved = advance(rank, stream) || moved;
            }
        }
        return meet() || moved;
    }

    bool advance(std::size_t rank, std::deque<std::size_t>& stream) {
        if (stream.empty()) {
            return false;
        }
        RankState& state = ranks_[rank];
        std::size_t const id = stream.front();
        Item const& item = items_[rank][id];
        if (state.open.count(id) == 0) {
            if (item.wait && state.complete.count(*item.wait) == 0) {
                return false;
            }
            start({rank, id}, item);
            return true;
        }
        if (state.open.at(id) > 0) {
            return false;
        }
        state.complete.insert(id);
        stream.pop_front();
        return true;
    }

    void start(Call const& call, Item const& item) {
        std::size_t& open = ranks_[call.rank].open[call.item];
        if (auto const* group = std::get_if<GroupedCall>(&item.work)) {
            for (Transfer const& send : group->sends) {
                sent_[{call.rank, send.peer}].push_back({call, send});
            }
            for (Transfer const& receive : group->receives) {
                awaited_[{receive.peer, call.rank}].push_back({call, receive});
            }
            open = group->sends.size() + group->receives.size();
        } else if (!item.computes()) {
            waiting_[communicator_of(item)][call.rank].push_back(call);
            open = 1;
        }
    }

    static ncclComm_t communicator_of(Item const& item) {
        return std::visit(
            [](auto const& call) -> ncclComm_t {
                if constexpr (std::is_same_v<std::decay_t<decltype(call)>, Compute>) {
                    return nullptr;
                } else {
                    return call.communicator;
                }
            },
            item.work);
    }

    void part_done(Call const& call) { --ranks_[call.rank].open.at(call.item); }

    bool meet() {
        bool moved = false;
        for (auto& [pair, sends] : sent_) {
            auto& receives = awaited_[pair];
            while (!sends.empty() && !receives.empty()) {
                Transfer const& send = sends.front().transfer;
                Transfer const& receive = receives.front().transfer;
                if (send.channel != receive.channel || send.bytes != receive.bytes) {
                    mispaired_ = "ranks " + std::to_string(pair.first) + " and " + std::to_string(pair.second) +
                                 " pair channels " + std::to_string(send.channel) + " and " +
                                 std::to_string(receive.channel);
                }
                part_done(sends.front().call);
                part_done(receives.front().call);
                sends.pop_front();
                receives.pop_front();
                moved = true;
            }
        }
        for (auto& [communicator, calls] : waiting_) {
            if (calls.size() < communicators_.members(communicator).size()) {
                continue;
            }
            for (auto call = calls.begin(); call != calls.end();) {
                part_done(call->second.front());
                call->second.pop_front();
                call = call->second.empty() ? calls.erase(call) : std::next(call);
            }
            moved = true;
        }
        return moved;
    }

    std::vector<std::vector<Item>> const& items_;
    FakeCommunicators const& communicators_;
    std::vector<RankState> ranks_;
    std::map<std::pair<std::size_t, std::size_t>, std::deque<End>> sent_, awaited_;  // by source and destination
    std::map<ncclComm_t, std::map<std::size_t, std::deque<Call>>> waiting_;          // by rank
    std::string mispaired_;
};

}  // namespace dlmb::nccl

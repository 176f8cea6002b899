// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a plan set in this process, with their memory and payload. The test plays the network between them.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/plan_memory.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>

namespace dlmb::test {

class Ranks {
public:
    struct Endpoint {
        Endpoint(HostSpace& space, Plan made)
            : plan(std::move(made)), memory(space, plan), payload(space, memory.buffers, plan) {}
        Plan plan;
        PlanMemory memory;
        PlanPayload payload;
    };

    /// `build` adds the steps of a rank.
    Ranks(int ranks, std::function<void(PlanBuilder&, Rank)> const& build) {
        for (Rank me = 0; me < ranks; ++me) {
            PlanBuilder builder(me);
            build(builder, me);
            ranks_.emplace_back(space_, std::move(builder).finish());
        }
    }

    Endpoint& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    std::byte* at(Rank rank, BufferId buffer, Bytes offset) { return at(rank).memory.buffers.base[buffer] + offset; }
    void prepare(std::uint32_t iteration) {
        for (Endpoint& rank : ranks_) {
            rank.payload.prepare(iteration);
        }
    }
    std::vector<std::string> verify(Rank rank, std::uint32_t iteration) { return at(rank).payload.verify(iteration); }

    /// Does exchange `step` of all ranks.
    void exchange(StepId step) {
        for (Endpoint const& receiver : ranks_) {
            auto const& in = std::get<Exchange>(receiver.plan.steps[step].operation);
            for (Block const& block : in.recv) {
                std::memcpy(at(receiver.plan.me, in.recv_buffer, block.offset),
                            sent(block.peer, receiver.plan.me, step), block.bytes);
            }
        }
    }
    /// Where `from` keeps what it sends to `to`, and where `to` wants it.
    std::byte* sent(Rank from, Rank to, StepId step) {
        auto const& exchange = std::get<Exchange>(at(from).plan.steps[step].operation);
        return at(from, exchange.send_buffer, block_of(exchange.send, to).offset);
    }
    std::byte* received(Rank to, Rank from, StepId step) {
        auto const& exchange = std::get<Exchange>(at(to).plan.steps[step].operation);
        return at(to, exchange.recv_buffer, block_of(exchange.recv, from).offset);
    }

private:
    static Block block_of(std::vector<Block> const& blocks, Rank peer) {
        return *std::find_if(blocks.begin(), blocks.end(), [peer](Block const& block) { return block.peer == peer; });
    }

    HostSpace space_;
    std::deque<Endpoint> ranks_;  // payloads refer to them
};

}  // namespace dlmb::test

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two ranks that pack, exchange and unpack on the host; the test plays the network between them.
#pragma once

#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/plan_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>

namespace dlmb::test {

inline constexpr std::uint32_t iteration = 5;
inline constexpr StepId pack = 0;
inline constexpr StepId move = 1;
inline constexpr StepId unpack = 2;

class TwoRanks : public testing::Test {
protected:
    /// `build` adds the three steps of a rank; one iteration of them is run.
    void run_both(std::function<void(PlanBuilder&, Rank)> const& build) {
        prepare_both(build);
        for (Rank const rank : {0, 1}) {
            compute(rank, pack);
        }
        exchange();
        for (Rank const rank : {0, 1}) {
            compute(rank, unpack);
        }
    }
    void prepare_both(std::function<void(PlanBuilder&, Rank)> const& build) {
        ranks.clear();
        for (Rank me = 0; me < 2; ++me) {
            PlanBuilder builder(me);
            build(builder, me);
            Endpoint& rank = ranks.emplace_back();
            rank.plan = std::move(builder).finish();
            rank.memory.emplace(space, rank.plan);
            rank.buffers = rank.memory->buffers;
            rank.payload.emplace(space, rank.buffers, rank.plan);
            rank.payload->prepare(iteration);
        }
    }
    void compute(Rank rank, StepId step) {
        HostCompute work(std::get<Compute>(at(rank).plan.steps[step].operation), at(rank).buffers);
        work.start();
        while (!work.test()) {
        }
    }
    void exchange() {
        for (Rank to = 0; to < 2; ++to) {
            for (Rank from = 0; from < 2; ++from) {
                auto const& out = std::get<Exchange>(at(from).plan.steps[move].operation);
                auto const& in = std::get<Exchange>(at(to).plan.steps[move].operation);
                Block const& sent = out.send[static_cast<std::size_t>(to)];
                Block const& received = in.recv[static_cast<std::size_t>(from)];
                std::memcpy(at(to).buffers.base[in.recv_buffer] + received.offset,
                            at(from).buffers.base[out.send_buffer] + sent.offset, sent.bytes);
            }
        }
    }
    std::vector<std::string> verify(Rank rank) { return at(rank).payload->verify(iteration); }

    struct Endpoint {
        Plan plan;
        std::optional<PlanMemory> memory;
        Buffers buffers;
        std::optional<PlanPayload> payload;
    };
    Endpoint& at(Rank rank) { return ranks[static_cast<std::size_t>(rank)]; }

    HostSpace space;
    std::deque<Endpoint> ranks;  // payloads refer to them
};

}  // namespace dlmb::test

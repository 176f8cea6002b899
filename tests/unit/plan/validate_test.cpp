// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/validate.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace dlmb {
namespace {

TEST(Validate, AcceptsExchangesOfEveryShape) {
    test::ByteMatrix const shapes[] = {
        [](Rank, Rank) { return Bytes{64}; }, [](Rank, Rank) { return Bytes{0}; },
        [](Rank from, Rank to) { return static_cast<Bytes>((from * 7 + to * 3) % 5) * 100; },
        [](Rank, Rank to) { return to == 0 ? Bytes{9} : Bytes{0}; }};
    for (int const ranks : {1, 2, 3, 7, 16}) {
        for (test::ByteMatrix const& shape : shapes) {
            EXPECT_EQ(test::texts(validate(test::exchange_plans(ranks, shape))), "") << ranks;
        }
    }
}

TEST(Validate, AcceptsNoRankAndRanksWithoutSteps) {
    EXPECT_TRUE(validate({}).empty());
    std::vector<Plan> plans(3);
    for (Rank me = 0; me < 3; ++me) {
        plans[static_cast<std::size_t>(me)].me = me;
    }
    EXPECT_TRUE(validate(plans).empty());
}

TEST(Validate, ComparesSizesAboveFourGibibytes) {
    constexpr Bytes above = (Bytes{1} << 32) + 8;
    std::vector<Plan> plans = test::exchange_plans(2, [](Rank, Rank) { return above; });
    EXPECT_EQ(test::texts(validate(plans)), "");
    // The lower 32 bits stay equal: a check that narrows would accept this.
    std::get<Exchange>(plans[1].steps[0].operation).recv[0].bytes = 8;
    EXPECT_EQ(test::texts(validate(plans)),
              "rank 1 step 0 \"dispatch\" expects 8 B from rank 0, rank 0 sends 4294967304 B\n");
}

TEST(Validate, WhatComesFromASharedBufferGoesToASharedOne) {
    std::vector<Plan> plans = test::exchange_plans(2, [](Rank, Rank) { return Bytes{64}; });
    BufferId const sent = std::get<Exchange>(plans[0].steps[0].operation).send_buffer;
    plans[0].buffers[sent].shared = true;
    EXPECT_EQ(
        test::texts(validate(plans)),
        "rank 1 step 0 \"dispatch\" receives into a buffer of its own what rank 0 step 0 \"dispatch\" sends from a "
        "shared one\n");
    for (Plan& plan : plans) {
        for (Buffer& buffer : plan.buffers) {
            buffer.shared = true;
        }
    }
    EXPECT_EQ(test::texts(validate(plans)), "");
}

TEST(Validate, NamesWorldRanksInGroupsThatPermuteThem) {
    std::vector<Plan> plans = test::exchange_plans(3, [](Rank, Rank) { return Bytes{8}; });
    for (Plan& plan : plans) {
        plan.groups[0].members = {2, 0, 1};
    }
    EXPECT_EQ(test::texts(validate(plans)), "");
    std::get<Exchange>(plans[0].steps[0].operation).recv[0].bytes = 4;  // group rank 0 is world rank 2
    EXPECT_EQ(test::texts(validate(plans)), "rank 0 step 0 \"dispatch\" expects 4 B from rank 2, rank 2 sends 8 B\n");
}

TEST(Validate, ReportsEveryWrongBlockOfASparseExchangeOnce) {
    std::vector<Plan> plans = test::exchange_plans(5, [](Rank, Rank) { return Bytes{8}; });
    auto& lost = std::get<Exchange>(plans[3].steps[0].operation).recv;
    lost.erase(lost.begin() + 1, lost.begin() + 4);  // the blocks of ranks 1, 2 and 3
    auto& unsent = std::get<Exchange>(plans[4].steps[0].operation).send;
    unsent.erase(unsent.begin(), unsent.begin() + 2);  // the blocks to ranks 0 and 1
    EXPECT_EQ(test::texts(validate(plans)), "rank 1 step 0 \"dispatch\" sends 8 B to rank 3, rank 3 expects 0 B\n"
                                            "rank 2 step 0 \"dispatch\" sends 8 B to rank 3, rank 3 expects 0 B\n"
                                            "rank 3 step 0 \"dispatch\" sends 8 B to rank 3, rank 3 expects 0 B\n"
                                            "rank 0 step 0 \"dispatch\" expects 8 B from rank 4, rank 4 sends 0 B\n"
                                            "rank 1 step 0 \"dispatch\" expects 8 B from rank 4, rank 4 sends 0 B\n");
}

TEST(Validate, AcceptsCollectivesInPlace) {
    std::vector<Plan> plans = test::mixed_plans();
    for (Plan& plan : plans) {
        auto& reduce = std::get<Collective>(plan.steps[test::mixed::reduce].operation);
        reduce.send = reduce.recv;
        auto& gather = std::get<Collective>(plan.steps[test::mixed::gather].operation);
        gather.send = {gather.recv.buffer, gather.recv.offset + static_cast<Bytes>(plan.me) * 32};  // 128 B / 4 ranks
        auto& scatter = std::get<Collective>(plan.steps[test::mixed::scatter].operation);
        scatter.recv = {scatter.send.buffer, scatter.send.offset + static_cast<Bytes>(plan.me) * 16};  // 64 B / 4 ranks
    }
    EXPECT_EQ(test::texts(validate(plans)), "");
}

TEST(Validate, TakesARankWithoutBlocksInAnExchangeInPlaceAndInOneThatIsNot) {
    EXPECT_FALSE(Exchange{}.in_place()) << "without blocks";
    for (bool const in_place : {false, true}) {
        std::vector<Plan> plans =
            test::exchange_plans(3, [](Rank from, Rank to) { return from == 0 || to == 0 ? 0 : Bytes{8}; });
        for (Plan& plan : plans) {
            auto& exchange = std::get<Exchange>(plan.steps[0].operation);
            if ((plan.me != 0) == in_place) {
                exchange.recv_buffer = exchange.send_buffer;
                exchange.recv = exchange.send;
            }
        }
        EXPECT_EQ(test::texts(validate(plans)), "");
        if (in_place) {
            std::get<Exchange>(plans[2].steps[0].operation).recv_buffer = 1;
            EXPECT_EQ(test::texts(validate(plans)), "rank 2 step 0 \"dispatch\" is not in place, that of rank 1 is\n");
        }
    }
}

TEST(Validate, AcceptsForwardingOfWhatWasWaitedFor) {
    std::vector<Plan> plans = test::mixed_plans();
    for (Plan& plan : plans) {
        auto const& broadcast = std::get<Collective>(plan.steps[test::mixed::broadcast].operation);
        auto& send = std::get<Send>(plan.steps[test::mixed::send].operation);
        send.buffer = broadcast.recv.buffer;
        send.to.offset = broadcast.recv.offset;
        send.to.bytes = 100;
        std::get<Recv>(plan.steps[test::mixed::recv].operation).from.bytes = 100;
    }
    EXPECT_EQ(test::texts(validate(plans)), "");
}

TEST(Validate, AcceptsGroupIdsThatDifferBetweenRanks) {
    std::vector<Plan> plans;
    for (Rank me = 0; me < 3; ++me) {
        PlanBuilder builder(me);
        if (me == 2) {
            builder.group({{2}});
        }
        GroupId const all = builder.group(test::world_group(3));
        if (me < 2) {
            builder.all_reduce(builder.group({{0, 1}}), 8, Element::int64, Reduction::sum, "pair");
        }
        builder.broadcast(all, 0, 8, Element::int64, "all");
        plans.push_back(std::move(builder).finish());
    }
    EXPECT_EQ(test::texts(validate(plans)), "");
}

TEST(Validate, MessagesOfOneChannelMeetInOrder) {
    auto const plans_with = [](std::vector<Bytes> const& sent, std::vector<Bytes> const& received, int second_channel) {
        return test::plans_of(2, [&](PlanBuilder& builder, GroupId pair, Rank me) {
            for (std::size_t i = 0; i < sent.size(); ++i) {
                int const channel = i == 0 ? 0 : second_channel;
                me == 0 ? builder.send(pair, 1, sent[i], channel, -1, "ping")
                        : builder.recv(pair, 0, received[i], i == 0 ? second_channel : 0, -1, "ping");
            }
        });
    };
    EXPECT_EQ(test::texts(validate(plans_with({8, 16}, {8, 16}, 0))), "");
    EXPECT_EQ(test::texts(validate(plans_with({8, 16}, {16, 8}, 0))),
              "rank 1 step 0 \"ping\" expects 16 B from rank 0 on channel 0, rank 0 step 0 \"ping\" sends 8 B\n"
              "rank 1 step 1 \"ping\" expects 8 B from rank 0 on channel 0, rank 0 step 1 \"ping\" sends 16 B\n");
    EXPECT_EQ(test::texts(validate(plans_with({8, 16}, {16, 8}, 1))), "") << "channels keep them apart";
}

TEST(Validate, WindowsOfBothEndsAreAlikeAndTheirMessagesLieApart) {
    auto const plans_with = [](MessageWindow const& sent, MessageWindow const& received) {
        return test::plans_of(2, [&](PlanBuilder& builder, GroupId pair, Rank me) {
            me == 0 ? builder.send(pair, 1, 24, 0, -1, "w", {}, sent)
                    : builder.recv(pair, 0, 24, 0, -1, "w", {}, received);
        });
    };
    EXPECT_EQ(test::texts(validate(plans_with({64, 0}, {64, 0}))), "");
    EXPECT_EQ(test::texts(validate(plans_with({3, 24}, {3, 24}))), "");
    EXPECT_EQ(test::texts(validate(plans_with({3, 24}, {2, 24}))),
              "rank 1 step 0 \"w\" expects 2 messages 24 B apart from rank 0, rank 0 step 0 \"w\" sends 3 that are 24 "
              "B apart\n");
    EXPECT_EQ(test::texts(validate(plans_with({3, 24}, {3, 0}))),
              "rank 1 step 0 \"w\" expects 3 messages 0 B apart from rank 0, rank 0 step 0 \"w\" sends 3 that are 24 B "
              "apart\n")
        << "several payloads in one place";
    for (Bytes const stride : {Bytes{16}, Bytes{25}, Bytes{1} << 63}) {
        std::vector<Plan> plans = plans_with({3, 24}, {3, 24});
        std::get<Send>(plans[0].steps[0].operation).window.stride = stride;
        EXPECT_EQ(test::texts(validate(plans)),
                  "rank 0 step 0 \"w\" send: 3 messages of 24 B do not lie " + std::to_string(stride) + " B apart\n");
    }
    std::vector<Plan> plans = plans_with({3, 24}, {3, 24});
    std::get<Recv>(plans[1].steps[0].operation).window.messages = 0;
    EXPECT_EQ(test::texts(validate(plans)), "rank 1 step 0 \"w\" recv: has a window of no message\n");
    plans = plans_with({3, 24}, {3, 24});
    plans[0].buffers[0].bytes = 71;
    EXPECT_NE(test::texts(validate(plans)), "") << "the last message ends behind the buffer";
}

}  // namespace
}  // namespace dlmb

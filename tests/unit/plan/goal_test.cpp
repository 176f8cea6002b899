// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/traffic.hpp"
#include "tests/unit/plan/goal_schedule.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace dlmb {
namespace {

using test::goal::read;
using test::goal::Schedule;
using test::goal::to_goal;
using test::goal::Traffic;

Bytes sum(Traffic const& traffic) {
    Bytes total = 0;
    for (auto const& [key, bytes] : traffic) {
        total += bytes;
    }
    return total;
}

TEST(Goal, OfTwoRanksIsThisText) {
    std::vector<Plan> const plans = test::plans_of(2, [](PlanBuilder& builder, GroupId pair, Rank me) {
        StepId const work = builder.compute(250, "work");
        me == 0 ? builder.send(pair, 1, 8, 3, -1, "ping", {work}) : builder.recv(pair, 0, 8, 3, -1, "ping", {work});
    });
    EXPECT_EQ(to_goal(plans), "num_ranks 2\n"
                              "\n"
                              "rank 0 {\n"
                              "l1: calc 250\n"
                              "l2: send 8b to 1 tag 1\n"
                              "l2 requires l1\n"
                              "}\n"
                              "\n"
                              "rank 1 {\n"
                              "l1: calc 250\n"
                              "l2: recv 8b from 0 tag 1\n"
                              "l2 requires l1\n"
                              "}\n");
}

TEST(Goal, LeavesOutSelfAndKeepsLargeSizes) {
    constexpr Bytes large = (Bytes{5} << 32) + 1;
    std::string const text = to_goal(test::exchange_plans(2, [](Rank, Rank) { return large; }));
    EXPECT_NE(text.find("l2: send 21474836481b to 1 tag 1\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("to 0 tag", text.find("rank 0 {")), text.find("to 0 tag", text.find("rank 1 {"))) << text;
}

// A simulator sends in the order of the lines: if all began with rank 0, its NIC would delay the whole exchange.
TEST(Goal, AnExchangeBeginsWithTheNextRank) {
    std::string const text = to_goal(test::exchange_plans(3, [](Rank, Rank) { return 8; }));
    for (std::string_view const rank : {"rank 0 {\nl1: recv 8b from 1 tag 1\nl2: recv 8b from 2 tag 1\n"
                                        "l3: send 8b to 1 tag 1\nl4: send 8b to 2 tag 1\n",
                                        "rank 1 {\nl1: recv 8b from 2 tag 1\nl2: recv 8b from 0 tag 1\n"
                                        "l3: send 8b to 2 tag 1\nl4: send 8b to 0 tag 1\n",
                                        "rank 2 {\nl1: recv 8b from 0 tag 1\nl2: recv 8b from 1 tag 1\n"
                                        "l3: send 8b to 0 tag 1\nl4: send 8b to 1 tag 1\n"}) {
        EXPECT_NE(text.find(rank), std::string::npos) << text;
    }
}

TEST(Goal, MovesTheBytesOfEachRankThatTheTextPrints) {
    // Sizes that the ranks do not divide: 7 elements of 4 bytes, and parts of 12, 0 and 16.
    std::vector<Bytes> const shares{12, 0, 16};
    using Add = std::function<void(PlanBuilder&, GroupId)>;
    for (Add const &add : std::vector<Add>{
             [](PlanBuilder&builder, GroupId all) { builder.all_reduce(all, 28, Element::fp32, Reduction::sum, "s"); },
             [&](PlanBuilder&builder, GroupId all) {
                 builder.all_gather(all, SharedBytes(shares), Element::fp32, "s");
             },
             [&](PlanBuilder&builder, GroupId all) {
                 builder.reduce_scatter(all, SharedBytes(shares), Element::fp32, Reduction::sum, "s");
             }}) {
        std::vector<Plan> const plans = test::plans_of(3, add);
        Schedule const schedule = read(to_goal(plans));
        for (Plan const& plan : plans) {
            Bytes out = 0;
            Bytes in = 0;
            for (auto const& [key, bytes] : schedule.sent) {
                out += std::get<0>(key) == plan.me ? bytes : 0;
                in += std::get<1>(key) == plan.me ? bytes : 0;
            }
            EXPECT_EQ(traffic_of(plan).out, out) << name_of(plan.steps[0].operation) << ", rank " << plan.me;
            EXPECT_EQ(traffic_of(plan).in, in) << name_of(plan.steps[0].operation) << ", rank " << plan.me;
        }
    }
}

// LogGOPSim subtracts 1 of a size; a tag that is used again lets messages meet the receive of another.
TEST(Goal, MessagesOfAWindowHaveTagsOfTheirOwnAndAtLeastAByte) {
    std::string const text = to_goal(test::plans_of(2, [](PlanBuilder& builder, GroupId pair, Rank me) {
        for (int const channel : {7, 7, 5}) {
            me == 0 ? builder.send(pair, 1, 0, channel, -1, "x", {}, {2, 0})
                    : builder.recv(pair, 0, 0, channel, -1, "x", {}, {2, 0});
        }
    }));
    Schedule const schedule = read(text);
    EXPECT_EQ(schedule.sent, schedule.received);
    EXPECT_EQ(schedule.sent.size(), 6U);
    // Channel 5 has two messages, so those of channel 7 begin at tag 3.
    EXPECT_NE(text.find("l1: send 1b to 1 tag 3\n"), std::string::npos) << text;
}

TEST(Goal, MovesWhatTheOperationsMove) {
    // One collective on four ranks each, summed over ranks. Shares of 60 fp32 over 4 ranks: 16 16 16 12 B.
    auto const moved = [](auto const& add) {
        Schedule const schedule = read(to_goal(test::plans_of(4, add)));
        EXPECT_EQ(schedule.sent, schedule.received);
        return sum(schedule.sent);
    };
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_reduce(g, 60, Element::fp32, Reduction::sum, "x"); }),
              2U * 3 * 60);  // every chunk passes three links, twice
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.reduce_scatter(g, 64, Element::fp32, Reduction::sum, "x"); }),
              3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_gather(g, 64, Element::fp32, "x"); }), 3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.broadcast(g, 2, 64, Element::fp32, "x"); }), 3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.reduce(g, 2, 64, Element::fp32, Reduction::sum, "x"); }),
              3U * 64);
    std::vector<Bytes> const shares{4, 0, 20, 40};
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.gather(g, 2, SharedBytes(shares), Element::fp32, "x"); }), 44U)
        << "all but the root's part";
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.scatter(g, 3, SharedBytes(shares), Element::fp32, "x"); }), 24U);
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.all_gather(g, SharedBytes(shares), Element::fp32, "x"); }),
              3U * 64);
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) {
                  b.reduce_scatter(g, SharedBytes(shares), Element::fp32, Reduction::sum, "x");
              }),
              3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.barrier(g, "x"); }), 2U * 4) << "two rounds of a byte per rank";
    // Fewer elements than ranks: two chunks are empty and leave no line.
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_reduce(g, 8, Element::fp32, Reduction::sum, "x"); }),
              2U * 3 * 8);
}

TEST(Goal, RingRoundsWaitForTheRoundBefore) {
    Schedule const schedule = read(to_goal(test::plans_of(3, [](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, 12, Element::fp32, Reduction::sum, "x");
    })));
    // 2 * (3 - 1) rounds of a receive and a send, then the join: line 2k+1 and 2k+2 wait for 2k-1 and 2k.
    EXPECT_EQ(schedule.lines.at(1), 9);
    for (int label = 3; label <= 8; ++label) {
        int const before = (label - 1) / 2 * 2;
        EXPECT_EQ(schedule.requires_labels.at(1).at(label), (std::vector<int>{before - 1, before})) << label;
    }
}

// An acknowledgement says that all blocks of its step are read.
TEST(Goal, AReaderAcknowledgesWhatItHasRead) {
    std::vector<PlacedBytes> const pages{{0, 40}, {64, 24}};
    std::string const text = to_goal(test::plans_of(2, [&](PlanBuilder& builder, GroupId pair, Rank me) {
        if (me == 0) {
            builder.put(pair, {{1, 1}, {1, 1}}, pages, "pages.offer", {}, OperationKind::offer);
        } else {
            builder.wait_signal(pair, {{0, 1}, {0, 1}}, pages, 0, "pages.get", {}, OperationKind::get);
        }
    }));
    Schedule const schedule = read(text);
    EXPECT_EQ(schedule.sent, schedule.received);
    for (int const rank : {0, 1}) {
        for (int const acknowledgement : {5, 6}) {
            EXPECT_EQ(schedule.requires_labels.at(rank).at(acknowledgement), (std::vector<int>{1, 2, 3, 4})) << text;
        }
    }
}

TEST(Goal, DependenciesOfDenseExchangesStayLinear) {
    constexpr int ranks = 32;
    std::vector<Bytes> const bytes(ranks, 8);
    Schedule const schedule = read(to_goal(test::plans_of(ranks, [&](PlanBuilder& builder, GroupId all) {
        StepId const dispatch = builder.exchange(all, bytes, bytes, "dispatch");
        builder.exchange(all, bytes, bytes, "combine", {dispatch});
    })));
    std::size_t dependencies = 0;
    for (auto const& [label, labels] : schedule.requires_labels.at(0)) {
        dependencies += labels.size();
    }
    // 62 messages join, 62 wait for that join, 62 join: 3 * 62 instead of 62 * 62.
    EXPECT_EQ(dependencies, 3U * 62);
}

TEST(Goal, AStepWithoutMessagesStillCarriesItsDependencies) {
    std::vector<Plan> const plans = test::plans_of(1, [](PlanBuilder& builder, GroupId alone) {
        std::vector<Bytes> const self{64};
        StepId last = builder.compute(10, "a");
        last = builder.exchange(alone, self, self, "b", {last});
        builder.compute(20, "c", {last});
    });
    EXPECT_EQ(to_goal(plans), "num_ranks 1\n\nrank 0 {\n"
                              "l1: calc 10\n"
                              "l2: calc 0\n"
                              "l2 requires l1\n"
                              "l3: calc 20\n"
                              "l3 requires l2\n"
                              "}\n");
}

}  // namespace
}  // namespace dlmb

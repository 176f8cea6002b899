// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and their signals as values: what is proved of them, counted, printed and lowered to messages.
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/transform/transform.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace dlmb {
namespace {

constexpr PlacedBytes first{64, 100};
constexpr PlacedBytes second{256, 40};

/// Each of two ranks puts two blocks before one signal to the other one and one block to itself, waits, and answers by
/// a signal without data.
std::vector<Plan> two_ranks(std::function<void(Plan&)> const& change_of_rank_1 = {}) {
    std::vector<PlacedBytes> const places{first, second, {512, 8}};
    std::vector<Plan> plans = test::plans_of(2, [&](PlanBuilder& builder, GroupId both, Rank me) {
        Rank const other = 1 - me;
        StepId const put = builder.put(both, {{other, 2}, {me, 1}}, places, "there.put");
        StepId const wait = builder.wait_signal(both, {{other, 2}, {me, 1}}, places, 0, "there.wait");
        builder.put(both, {{other, 0}}, {}, "back.put", {put, wait});
        builder.wait_signal(both, {{other, 0}}, {}, 0, "back.wait", {wait});
    });
    if (change_of_rank_1) {
        change_of_rank_1(plans[1]);
    }
    return plans;
}

std::string first_problem(std::function<void(Plan&)> const& change_of_rank_1 = {}) {
    std::vector<PlanProblem> const problems = validate(two_ranks(change_of_rank_1));
    return problems.empty() ? "" : problems.front().text;
}

Put& put_of(Plan& plan, StepId step = 0) {
    return std::get<Put>(plan.steps[step].operation);
}
WaitSignal& wait_of(Plan& plan, StepId step = 1) {
    return std::get<WaitSignal>(plan.steps[step].operation);
}

TEST(Signals, OneRankThatDisagreesIsNamed) {
    EXPECT_EQ(first_problem(), "");
    EXPECT_EQ(
        first_problem([](Plan& plan) { wait_of(plan).recv[1].offset = 264; }),
        "rank 1 step 1 \"there.wait\" expects 40 B at offset 264, rank 0 step 0 \"there.put\" puts 40 B at offset "
        "256");
    EXPECT_EQ(
        first_problem([](Plan& plan) { put_of(plan).send[0].bytes = 96; }),
        "rank 0 step 1 \"there.wait\" expects 100 B at offset 64, rank 1 step 0 \"there.put\" puts 96 B at offset "
        "64");
    EXPECT_EQ(first_problem([](Plan& plan) {
                  wait_of(plan).signals[0].blocks = 1;
                  wait_of(plan).recv.erase(wait_of(plan).recv.begin());
              }),
              "rank 1 step 1 \"there.wait\" expects 1 blocks before a signal, rank 0 step 0 \"there.put\" sends 2");
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan, 2).signals.clear(); }),
              "rank 0 step 3 \"back.wait\" waits for a signal of rank 1, which sends none");
    EXPECT_EQ(first_problem([](Plan& plan) { wait_of(plan, 3).signals.clear(); }),
              "rank 0 step 2 \"back.put\" signals rank 1, which does not wait for it");
}

TEST(Signals, AStepThatIsWrongByItselfIsNamed) {
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan).targets.pop_back(); }),
              "rank 1 step 0 \"there.put\" names 2 targets for its 3 blocks and has to name 3");
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan).signals[1].blocks = 2; }),
              "rank 1 step 0 \"there.put\" put: the signals have more than its 3 blocks");
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan).signals.pop_back(); }),
              "rank 1 step 0 \"there.put\" put: no signal has block 2");
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan).signals[1].peer = 0; }),
              "rank 1 step 0 \"there.put\" put: 8 B of peer 1 are of a signal of peer 0");
    EXPECT_EQ(first_problem([](Plan& plan) { put_of(plan, 2).buffer = 9; }),
              "rank 1 step 2 \"back.put\" put: uses buffer 9, the plan has 4 buffers");
    EXPECT_EQ(first_problem([](Plan& plan) { wait_of(plan).recv[1].offset = 100; }),
              "rank 1 step 1 \"there.wait\" wait_signal: blocks overlap in buffer \"there.wait.recv\"");
    EXPECT_EQ(first_problem([](Plan& plan) { wait_of(plan).recv[2].offset = 1000; }).substr(0, 77),
              "rank 1 step 1 \"there.wait\" wait_signal: 8 B at offset 1000 are outside buffer");
}

TEST(Signals, APutWaitsForNobody) {
    // The wait stands behind the put on both ranks: messages without buffers would hang here.
    auto const behind = [](Plan& plan) { plan.steps[1].after = {0}; };
    std::vector<Plan> plans = two_ranks(behind);
    behind(plans[0]);
    EXPECT_TRUE(validate(plans).empty());
}

TEST(Signals, RanksThatWaitForEachOtherAreADeadlock) {
    std::vector<PlacedBytes> const place{first};
    std::vector<Plan> const puts = test::plans_of(2, [&](PlanBuilder& builder, GroupId both, Rank me) {
        StepId const wait = builder.wait_signal(both, {{1 - me, 1}}, place, 0, "wait");
        builder.put(both, {{1 - me, 1}}, place, "put", {wait});
    });
    EXPECT_EQ(test::texts(validate(puts)),
              "deadlock: rank 0 step 0 \"wait\" waits for rank 1 step 1 \"put\"; rank 1 step 0 \"wait\" "
              "waits for rank 0 step 1 \"put\"\n");
    // An offer waits for its reader.
    std::vector<Plan> const reads = test::plans_of(2, [&](PlanBuilder& builder, GroupId both, Rank me) {
        StepId const offer = builder.put(both, {{1 - me, 1}}, place, "offer", {}, OperationKind::offer);
        builder.wait_signal(both, {{1 - me, 1}}, place, 0, "get", {offer}, OperationKind::get);
    });
    EXPECT_EQ(test::texts(validate(reads)),
              "deadlock: rank 0 step 0 \"offer\" waits for rank 1 step 1 \"get\"; rank 1 step 0 \"offer\" waits for "
              "rank 0 step 1 \"get\"\n");
}

/// The first rank offers two blocks and a signal without blocks to the second one, which gets them.
std::vector<Plan> reader_and_owner(std::function<void(Plan&)> const& change_of_reader = {}) {
    std::vector<PlacedBytes> const places{first, second};
    PlanBuilder owner(0);
    owner.put(owner.group({{0, 1}}), {{1, 2}, {1, 0}}, places, "pages.offer", {}, OperationKind::offer);
    PlanBuilder reader(1);
    reader.wait_signal(reader.group({{0, 1}}), {{0, 2}, {0, 0}}, places, 0, "pages.get", {}, OperationKind::get);
    std::vector<Plan> plans{std::move(owner).finish(), std::move(reader).finish()};
    if (change_of_reader) {
        change_of_reader(plans[1]);
    }
    return plans;
}

TEST(Signals, AReaderAloneKnowsItsPlaces) {
    EXPECT_TRUE(validate(reader_and_owner()).empty());
    EXPECT_TRUE(validate(reader_and_owner([](Plan& plan) { wait_of(plan, 0).recv[1].offset = 200; })).empty());
    auto const problem = [](std::function<void(Plan&)> const& change) {
        return validate(reader_and_owner(change)).at(0).text;
    };
    EXPECT_EQ(problem([](Plan& plan) { wait_of(plan, 0).recv[1].bytes = 39; }),
              "rank 1 step 0 \"pages.get\" expects 39 B at offset 0, rank 0 step 0 \"pages.offer\" puts 40 B at offset "
              "0");
    EXPECT_EQ(problem([](Plan& plan) { wait_of(plan, 0).kind = OperationKind::wait_signal; }),
              "rank 1 step 0 \"pages.get\" is wait_signal, and rank 0 step 0 \"pages.offer\" is offer");
}

/// All messages of a rank's plan.
std::vector<Message> messages_of(std::vector<Plan> const& plans, std::size_t rank) {
    std::vector<Message> all;
    Messages const messages{PlanSource(plans)};
    messages.each(plans[rank],
                  [&](StepId, std::span<Message const> each) { all.insert(all.end(), each.begin(), each.end()); });
    return all;
}

using Sizes = std::vector<std::pair<bool, Bytes>>;  // sends, bytes

/// Those of both ranks meet, and these are the first one's.
Sizes sizes_of(std::vector<Message> const& own, std::vector<Message> const& others) {
    Sizes sizes;
    for (std::size_t i = 0; i < own.size(); ++i) {
        sizes.emplace_back(own[i].sends, own[i].bytes);
        EXPECT_NE(own[i].sends, others.at(i).sends);
        EXPECT_EQ(own[i].tag, others[i].tag);
        EXPECT_EQ(own[i].bytes, others[i].bytes);
    }
    EXPECT_EQ(own.size(), others.size());
    return sizes;
}

// The flags back are last, when all blocks are read.
TEST(Signals, AReadIsToldByAFlagBack) {
    std::vector<Plan> const plans = reader_and_owner();
    EXPECT_EQ(sizes_of(messages_of(plans, 0), messages_of(plans, 1)),
              (Sizes{{true, 100}, {true, 40}, {true, 8}, {true, 8}, {false, 8}, {false, 8}}));
}

// A flag is a message, and no payload.
TEST(Signals, TrafficCountsPutsAndFlags) {
    RankTraffic const traffic = traffic_of(two_ranks()[0]);
    EXPECT_EQ(traffic.payload, 148U);
    EXPECT_EQ(traffic.out, 140U);
    EXPECT_EQ(traffic.in, 140U);
    EXPECT_EQ(traffic.self, 8U);
    EXPECT_EQ(traffic.messages, 4U) << "two blocks and two flags for the other rank";
}

TEST(Signals, ArePrintedWithTheirSteps) {
    std::vector<Plan> const plans = two_ranks();
    std::string const text = to_text(PlanSource(plans));
    EXPECT_NE(text.find("put             there.put"), std::string::npos) << text;
    EXPECT_NE(text.find("wait_signal     back.wait"), std::string::npos) << text;
    EXPECT_NE(text.find("(2 signals)"), std::string::npos) << text;
}

TEST(Signals, AreMessagesForThoseWhoKnowNothingElse) {
    std::vector<Plan> const plans = two_ranks();
    std::vector<Message> sent = messages_of(plans, 0);
    std::vector<Message> received = messages_of(plans, 1);
    std::erase_if(sent, [](Message const& message) { return !message.sends; });
    std::erase_if(received, [](Message const& message) { return message.sends; });
    EXPECT_EQ(sizes_of(sent, received), (Sizes{{true, 100}, {true, 40}, {true, flag_bytes}, {true, flag_bytes}}));
}

TEST(Signals, StayWholeWhereAPlanIsTransformed) {
    std::vector<Plan> const plans = transformed(two_ranks(), parse_transforms("split:4,reorder"));
    for (Plan const& plan : plans) {
        EXPECT_EQ(plan.steps.size(), 4U);
    }
    EXPECT_TRUE(validate(plans).empty());
}

}  // namespace
}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and their signals as values: what is proved of them, counted, printed and lowered to messages.
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/transform/transform.hpp"
#include "common/formats/plan/validate.hpp"

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
    std::vector<Plan> plans;
    for (Rank me = 0; me < 2; ++me) {
        Rank const other = 1 - me;
        PlanBuilder builder(me);
        GroupId const both = builder.group({{0, 1}});
        StepId const put =
            builder.put(both, {{other, 2}, {me, 1}}, std::vector{first, second, PlacedBytes{512, 8}}, "there.put");
        StepId const wait = builder.wait_signal(both, {{other, 2}, {me, 1}},
                                                std::vector{first, second, PlacedBytes{512, 8}}, 0, "there.wait");
        builder.put(both, {{other, 0}}, {}, "back.put", {put, wait});
        builder.wait_signal(both, {{other, 0}}, {}, 0, "back.wait", {wait});
        plans.push_back(std::move(builder).finish());
    }
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

TEST(Signals, OfRanksThatAgreeAreInOrder) {
    EXPECT_EQ(first_problem(), "");
}

TEST(Signals, OneRankThatDisagreesIsNamed) {
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
    std::vector<Plan> plans;
    for (Rank me = 0; me < 2; ++me) {
        PlanBuilder builder(me);
        GroupId const both = builder.group({{0, 1}});
        StepId const wait = builder.wait_signal(both, {{1 - me, 1}}, std::vector{first}, 0, "wait");
        builder.put(both, {{1 - me, 1}}, std::vector{first}, "put", {wait});
        plans.push_back(std::move(builder).finish());
    }
    std::vector<PlanProblem> const problems = validate(plans);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text,
              "deadlock: rank 0 step 0 \"wait\" waits for rank 1 step 1 \"put\"; rank 1 step 0 \"wait\" "
              "waits for rank 0 step 1 \"put\"");
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

TEST(Signals, AnOfferWaitsForItsReader) {
    std::vector<Plan> plans;
    for (Rank me = 0; me < 2; ++me) {
        PlanBuilder builder(me);
        GroupId const both = builder.group({{0, 1}});
        StepId const offer = builder.put(both, {{1 - me, 1}}, std::vector{first}, "offer", {}, OperationKind::offer);
        builder.wait_signal(both, {{1 - me, 1}}, std::vector{first}, 0, "get", {offer}, OperationKind::get);
        plans.push_back(std::move(builder).finish());
    }
    std::vector<PlanProblem> const problems = validate(plans);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text,
              "deadlock: rank 0 step 0 \"offer\" waits for rank 1 step 1 \"get\"; rank 1 step 0 \"offer\" waits for "
              "rank 0 step 1 \"get\"");
}

TEST(Signals, AReadIsToldByAFlagBack) {
    std::vector<Plan> const plans = reader_and_owner();
    Messages const messages{PlanSource(plans)};
    std::vector<Message> of_owner;
    std::vector<Message> of_reader;
    messages.each(plans[0], [&](StepId, std::span<Message const> each) { of_owner.assign(each.begin(), each.end()); });
    messages.each(plans[1], [&](StepId, std::span<Message const> each) { of_reader.assign(each.begin(), each.end()); });
    std::vector<std::pair<bool, Bytes>> sizes;
    for (std::size_t i = 0; i < of_owner.size(); ++i) {
        sizes.emplace_back(of_owner[i].sends, of_owner[i].bytes);
        EXPECT_NE(of_owner[i].sends, of_reader.at(i).sends);
        EXPECT_EQ(of_owner[i].tag, of_reader.at(i).tag);
        EXPECT_EQ(of_owner[i].bytes, of_reader.at(i).bytes);
    }
    EXPECT_EQ(sizes, (std::vector<std::pair<bool, Bytes>>{
                         {true, 100}, {true, 40}, {true, 8}, {false, 8}, {true, 8}, {false, 8}}));
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
    Messages const messages{PlanSource(plans)};
    std::vector<Message> sent;
    std::vector<Message> received;
    messages.each(plans[0], [&](StepId, std::span<Message const> of_step) {
        sent.insert(sent.end(), of_step.begin(), of_step.end());
    });
    messages.each(plans[1], [&](StepId, std::span<Message const> of_step) {
        received.insert(received.end(), of_step.begin(), of_step.end());
    });
    std::erase_if(sent, [](Message const& message) { return !message.sends; });
    std::erase_if(received, [](Message const& message) { return message.sends; });
    ASSERT_EQ(sent.size(), 4U);
    ASSERT_EQ(received.size(), 4U);
    std::vector<Bytes> const bytes{100, 40, flag_bytes, flag_bytes};
    for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(sent[i].bytes, bytes[i]);
        EXPECT_EQ(received[i].bytes, bytes[i]);
        EXPECT_EQ(sent[i].tag, received[i].tag);
    }
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/ready_queue.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

/// Everything that is ready now, in order; it starts thereby.
std::vector<std::uint32_t> take_all(ReadyQueue& queue) {
    std::vector<std::uint32_t> taken;
    while (auto const task = queue.take()) {
        taken.push_back(*task);
    }
    return taken;
}

using Tasks = std::vector<std::uint32_t>;

TEST(ReadyQueue, ATaskIsReadyWhenItsPredecessorsAreComplete) {
    ReadyQueue queue({{{}, {}, {0}, {0, 1}}, {{}, {}, {}, {}}});
    for (int iteration = 0; iteration < 2; ++iteration) {
        queue.begin();
        EXPECT_EQ(take_all(queue), (Tasks{0, 1}));
        queue.complete(0);
        EXPECT_EQ(take_all(queue), (Tasks{2}));
        queue.complete(2);
        EXPECT_EQ(take_all(queue), Tasks{});
        queue.complete(1);
        EXPECT_EQ(take_all(queue), (Tasks{3}));
        EXPECT_FALSE(queue.done());
        queue.complete(3);
        EXPECT_TRUE(queue.done());
    }
}

// Task 1 could start at once, but its library pairs it up by order with task 0, which waits for task 2's predecessor.
TEST(ReadyQueue, StartingIsEnoughWhereOnlyTheOrderMatters) {
    ReadyQueue queue({{{}, {0}, {}}, {{}, {}, {1}}});
    queue.begin();
    EXPECT_EQ(take_all(queue), (Tasks{0}));
    queue.complete(0);
    EXPECT_EQ(take_all(queue), (Tasks{1, 2}));
}

TEST(ReadyQueue, NoTaskIsDoneAtOnce) {
    ReadyQueue queue({{}, {}});
    queue.begin();
    EXPECT_FALSE(queue.take());
    EXPECT_TRUE(queue.done());
}

TEST(Precedence, MessagesOfAChannelAndCollectivesOfAGroupKeepTheirOrder) {
    PlanBuilder builder(0);
    GroupId const pair = builder.group({{0, 1}});
    GroupId const all = builder.group({{0, 1, 2}});
    StepId const think = builder.compute(1, "think");
    builder.send(pair, 1, 8, 0, -1, "a", {think});
    builder.send(pair, 1, 8, 1, -1, "b");  // another channel
    builder.send(all, 1, 8, 0, -1, "c");   // the same pair and channel as a
    builder.recv(pair, 1, 8, 0, -1, "d");  // the other direction
    builder.all_reduce(pair, 8, Element::fp32, Reduction::sum, "e");
    builder.broadcast(pair, 0, 8, Element::fp32, "f");
    builder.broadcast(all, 0, 8, Element::fp32, "g");
    Precedence const precedence = precedence_of(std::move(builder).finish());
    EXPECT_EQ(precedence.complete[1], (Tasks{think}));
    std::vector<Tasks> const started{{}, {}, {}, {1}, {}, {}, {5}, {}};
    EXPECT_EQ(precedence.started, started);
}

TEST(Precedence, WaitingForALaterStepIsRefused) {
    Plan plan;
    plan.steps.push_back({Compute{}, {0}, "a"});
    EXPECT_THROW((void)precedence_of(plan), Error);
}

TEST(Precedence, AChainIsAPlanWhereNothingOverlaps) {
    Plan plan;
    for (std::vector<StepId> const& after : std::vector<std::vector<StepId>>{{}, {0}, {1}}) {
        plan.steps.push_back({Compute{1}, after, "think"});
    }
    EXPECT_TRUE(is_chain(plan));
    EXPECT_TRUE(waits_for(plan, 2, 0));
    plan.steps[2].after = {0};
    EXPECT_FALSE(is_chain(plan));
    EXPECT_TRUE(waits_for(plan, 2, 0));
    EXPECT_FALSE(waits_for(plan, 2, 1));
    EXPECT_TRUE(is_chain(Plan{}));
}

TEST(Precedence, TheLongestChainIsOfStepsThatCommunicate) {
    Plan plan;
    EXPECT_EQ(longest_chain(plan), 0U);
    plan.steps.push_back({Compute{1}, {}, "think"});
    EXPECT_EQ(longest_chain(plan), 0U);
    plan.steps.push_back({Collective{.kind = OperationKind::all_reduce, .element = Element::fp32}, {0}, "first"});
    plan.steps.push_back({Collective{.kind = OperationKind::all_reduce, .element = Element::fp32}, {0}, "beside it"});
    EXPECT_EQ(longest_chain(plan), 1U);
    plan.steps.push_back({Compute{1}, {2}, "think"});
    plan.steps.push_back({Collective{.kind = OperationKind::all_reduce, .element = Element::fp32}, {1, 3}, "third"});
    EXPECT_EQ(longest_chain(plan), 2U);
}

}  // namespace
}  // namespace dlmb

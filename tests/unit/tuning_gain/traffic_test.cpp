// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/tools/tune/gain/gain.hpp"
#include "tests/unit/plan_round_trip.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace dlmb::tuning {
namespace {

using Add = std::function<void(PlanBuilder& plan, GroupId all)>;

std::string text_of(Add const& first, Add const& second, int ranks_per_node = 1) {
    PlanHeader header;
    header.world = {2, ranks_per_node};
    std::vector<Plan> plans;
    for (Add const& add : {first, second}) {
        PlanBuilder builder(static_cast<Rank>(plans.size()));
        add(builder, builder.group({{0, 1}}));
        plans.push_back(std::move(builder).finish());
    }
    return plan_lines(header, plans);
}

/// The traffic of two ranks on two nodes.
Traffic traffic_of(Add const& first, Add const& second) {
    PlanTestFile const file(text_of(first, second));
    return read_traffic(file.path());
}
Traffic traffic_of(Add const& both) {
    return traffic_of(both, both);
}

void reduce(PlanBuilder& plan, GroupId all) {
    plan.all_reduce(all, 4096, Element::fp32, Reduction::sum, "sum");
}
void nothing(PlanBuilder& /*plan*/, GroupId /*all*/) {}

TEST(Traffic, CountsWhatARankDoesInAnIteration) {
    Traffic const traffic = traffic_of([](PlanBuilder& plan, GroupId all) {
        reduce(plan, all);
        reduce(plan, all);
    });
    ASSERT_EQ(traffic.size(), 1U);
    auto const& [demand, count] = *traffic.begin();
    EXPECT_EQ(demand.bytes, 4096U);
    EXPECT_EQ(demand.conditions, (Conditions{TunedOperation::allreduce, 2, 2, "", "fp32", "sum", false, std::nullopt}));
    EXPECT_EQ(count, 2);
}

TEST(Traffic, CountsAMessageAtItsSender) {
    Traffic const traffic = traffic_of(
        [](PlanBuilder& plan, GroupId all) {
            plan.send(all, 1, 100, 0, -1, "message", {}, {3, 104});
        },
        [](PlanBuilder& plan, GroupId all) {
            plan.recv(all, 0, 100, 0, -1, "message", {}, {3, 104});
        });
    ASSERT_EQ(traffic.size(), 1U);
    EXPECT_EQ(traffic.begin()->first.conditions.operation, TunedOperation::sendrecv);
    EXPECT_EQ(traffic.begin()->first.bytes, 100U);
    EXPECT_EQ(traffic.begin()->second, 1.5);  // three by one of two ranks
}

Add exchange(std::vector<Bytes> sent, std::vector<Bytes> received) {
    return [=](PlanBuilder& plan, GroupId all) { plan.exchange(all, sent, received, "exchange"); };
}

TEST(Traffic, AnExchangeHasTheMeanOverItsRanks) {
    Traffic const even = traffic_of(exchange({10, 10}, {10, 10}));
    ASSERT_EQ(even.size(), 1U);
    EXPECT_EQ(even.begin()->first.bytes, 20U);
    EXPECT_EQ(even.begin()->first.conditions.uniform, true);
    EXPECT_EQ(even.begin()->second, 1);
    Traffic const uneven = traffic_of(exchange({10, 30}, {10, 0}), exchange({0, 10}, {30, 10}));
    EXPECT_EQ(uneven.begin()->first.bytes, 25U);  // (40 + 10) / 2
    EXPECT_EQ(uneven.begin()->first.conditions.uniform, false);
    // Rank 0 sends and rank 1 receives 40: 1.6 times the mean.
    EXPECT_TRUE(uneven.begin()->first.conditions.imbalance->contains(1.6));
    EXPECT_FALSE(even.begin()->first.conditions.imbalance);
}

TEST(Traffic, LeavesOutComputationAndWhatTablesHaveNoRulesFor) {
    EXPECT_TRUE(traffic_of([](PlanBuilder& plan, GroupId /*all*/) { plan.compute(5, "work"); }, nothing).empty());
    EXPECT_TRUE(traffic_of([](PlanBuilder& plan, GroupId all) { plan.barrier(all, "barrier"); }).empty());
    EXPECT_TRUE(traffic_of([](PlanBuilder& plan, GroupId all) {
                    plan.reduce(all, 0, 64, Element::fp32, Reduction::sum, "reduce");
                }).empty());
}

TEST(Traffic, LeavesOutVectorCallsForWhichTablesAreNotAsked) {
    auto const gather = [](SharedBytes const& parts) {
        return [=](PlanBuilder& plan, GroupId all) { plan.all_gather(all, parts, Element::fp32, "gather"); };
    };
    auto const scatter = [](SharedBytes const& parts) {
        return [=](PlanBuilder& plan, GroupId all) {
            plan.reduce_scatter(all, parts, Element::fp32, Reduction::sum, "scatter");
        };
    };
    EXPECT_EQ(traffic_of(gather(64)).size(), 1U);
    EXPECT_EQ(traffic_of(scatter(64)).size(), 1U);
    for (std::vector<Bytes> const& parts : {std::vector<Bytes>{16, 48}, std::vector<Bytes>{32, 32}}) {
        EXPECT_TRUE(traffic_of(gather(SharedBytes(parts))).empty());
        EXPECT_TRUE(traffic_of(scatter(SharedBytes(parts))).empty());
    }
}

TEST(Traffic, IsTheMeanOverIterations) {
    PlanTestFile const file(text_of(reduce, reduce) + text_of(nothing, nothing));
    EXPECT_EQ(read_traffic(file.path()).begin()->second, 0.5);
}

TEST(Traffic, RefusesWhatIsNoPlanAndNodesThatNobodyKnows) {
    PlanTestFile const unknown_nodes(text_of(reduce, reduce, 0));
    EXPECT_THROW((void)read_traffic(unknown_nodes.path()), UsageError);
    PlanTestFile const result(R"({"schema":"dlmb.result/1.0"})");
    EXPECT_THROW((void)read_traffic(result.path()), UsageError);
    EXPECT_THROW((void)read_traffic("no/such/plan.jsonl"), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning

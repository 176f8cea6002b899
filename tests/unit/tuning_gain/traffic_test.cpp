// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/gain/gain.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace dlmb::tuning {
namespace {

/// Two ranks on two nodes; `steps` of each.
std::string plan_of(std::string const& first, std::string const& second) {
    return R"({"schema":"dlmb.plan/1.0","world":{"ranks":2,"ranks_per_node":1},"plans":[{"rank":0,"steps":[)" + first +
           R"(]},{"rank":1,"steps":[)" + second + "]}]}";
}

Traffic traffic_of(std::string const& first, std::string const& second) {
    return parse_traffic(plan_of(first, second), "plan.json");
}

std::string const allreduce_step =
    R"({"operation":"allreduce","group":[0,1],"bytes":4096,"element":"fp32","reduction":"sum"})";

TEST(Traffic, CountsWhatARankDoesInAnIteration) {
    Traffic const traffic = traffic_of(allreduce_step + "," + allreduce_step, allreduce_step + "," + allreduce_step);
    ASSERT_EQ(traffic.size(), 1U);
    auto const& [demand, count] = *traffic.begin();
    EXPECT_EQ(demand.bytes, 4096U);
    EXPECT_EQ(demand.conditions, (Conditions{TunedOperation::allreduce, 2, 2, "", "fp32", "sum", false, std::nullopt}));
    EXPECT_EQ(count, 2);
}

TEST(Traffic, CountsAMessageAtItsSender) {
    Traffic const traffic = traffic_of(R"({"operation":"send","group":[0,1],"send":[{"peer":1,"bytes":100}]})",
                                       R"({"operation":"recv","group":[0,1],"recv":[{"peer":0,"bytes":100}]})");
    ASSERT_EQ(traffic.size(), 1U);
    EXPECT_EQ(traffic.begin()->first.conditions.operation, TunedOperation::sendrecv);
    EXPECT_EQ(traffic.begin()->second, 0.5);  // one of two ranks
}

std::string blocks(std::pair<int, int> bytes) {
    return R"([{"peer":0,"bytes":)" + std::to_string(bytes.first) + R"(},{"peer":1,"bytes":)" +
           std::to_string(bytes.second) + "}]";
}

std::string exchange(std::pair<int, int> send, std::pair<int, int> recv) {
    return R"({"operation":"exchange","group":[0,1],"send":)" + blocks(send) + R"(,"recv":)" + blocks(recv) + "}";
}

TEST(Traffic, AnExchangeHasTheMeanOverItsRanks) {
    Traffic const even = traffic_of(exchange({10, 10}, {10, 10}), exchange({10, 10}, {10, 10}));
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
    EXPECT_TRUE(traffic_of(R"({"operation":"compute","busy_ns":5})", "").empty());
    EXPECT_TRUE(traffic_of(R"({"operation":"barrier","group":[0,1]})", "").empty());
    EXPECT_TRUE(
        traffic_of(R"({"operation":"reduce","root":0,"group":[0,1],"bytes":64,"element":"fp32","reduction":"sum"})", "")
            .empty());
}

TEST(Traffic, LeavesOutVectorCallsForWhichTablesAreNotAsked) {
    for (std::string const name : {"allgather", "reduce_scatter"}) {
        std::string const step = R"({"operation":")" + name + R"(","group":[0,1],"bytes":64,"element":"fp32")";
        EXPECT_EQ(traffic_of(step + "}", step + "}").size(), 1U) << name;
        for (std::string const shares : {"[16,48]", "[32,32]"}) {
            std::string const parted = step + ",\"shares\":" + shares + "}";
            EXPECT_TRUE(traffic_of(parted, parted).empty()) << name << ' ' << shares;
        }
    }
}

TEST(Traffic, RefusesWhatIsNoPlan) {
    EXPECT_THROW((void)parse_traffic("{", "plan.json"), UsageError);
    EXPECT_THROW(
        (void)parse_traffic(R"({"schema":"dlmb.plan/1.0","world":{"ranks_per_node":0},"plans":[]})", "plan.json"),
        UsageError);
    EXPECT_THROW((void)parse_traffic(R"({"schema":"dlmb.result/1.0"})", "plan.json"), UsageError);
    EXPECT_THROW((void)traffic_of(R"({"operation":"gossip","group":[0,1],"bytes":1})", ""), UsageError);
    EXPECT_THROW((void)read_traffic("no/such/plan.json"), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning

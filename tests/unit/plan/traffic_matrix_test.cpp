// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/plan/plan_sets.hpp"
#include "tests/unit/plan/traffic_matrix.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

TEST(TrafficMatrix, HoldsEachPairAndSelf) {
    auto const bytes = [](Rank from, Rank to) { return (static_cast<Bytes>(from + 1) << 33) + static_cast<Bytes>(to); };
    test::TrafficMatrix const matrix(test::exchange_plans(3, bytes));
    for (Rank from = 0; from < 3; ++from) {
        for (Rank to = 0; to < 3; ++to) {
            EXPECT_EQ(matrix.at(from, to), bytes(from, to)) << from << " to " << to;
        }
    }
}

TEST(TrafficMatrix, OfCombineIsThatOfDispatchTransposed) {
    std::vector<Plan> const plans = test::mixed_plans();
    test::TrafficMatrix const dispatch(plans, "dispatch");
    test::TrafficMatrix const combine(plans, "combine");
    for (Rank from = 0; from < 4; ++from) {
        for (Rank to = 0; to < 4; ++to) {
            EXPECT_EQ(combine.at(to, from), dispatch.at(from, to));
        }
    }
    EXPECT_EQ(dispatch.at(2, 1), 3001U);
}

TEST(TrafficMatrix, SumsExchangesAndSendsButNoCollectives) {
    test::TrafficMatrix const matrix(test::mixed_plans());
    // From 0 to 1: dispatch 1001, combine (the block that 0 had from 1) 2000, forward 300.
    EXPECT_EQ(matrix.at(0, 1), 1001U + 2000U + 300U);
    EXPECT_EQ(matrix.at(0, 2), 1002U + 3000U);
}

TEST(TrafficMatrix, TranslatesGroupRanks) {
    std::vector<Plan> plans = test::exchange_plans(2, [](Rank, Rank to) { return to == 0 ? Bytes{5} : Bytes{7}; });
    for (Plan& plan : plans) {
        plan.groups[0].members = {1, 0};
    }
    test::TrafficMatrix const matrix(plans);
    EXPECT_EQ(matrix.at(0, 1), 5U) << "group rank 0 is world rank 1";
    EXPECT_EQ(matrix.at(0, 0), 7U);
}

}  // namespace
}  // namespace dlmb

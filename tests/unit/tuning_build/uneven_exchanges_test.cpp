// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/build/build_table.hpp"
#include "tests/unit/tuning_build/made_observations.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlmb::tuning {
namespace {

double constant_time(Bytes /*bytes*/) {
    return 10'000;
}

TEST(ImbalanceClass, CoversEachImbalanceOnceInStepsOfHalfAnOctave) {
    EXPECT_EQ(imbalance_class(1).min, 1.0);
    EXPECT_EQ(imbalance_class(0.999).min, 1.0) << "rounded shares";
    EXPECT_EQ(imbalance_class(2).min, 2.0);
    for (double imbalance = 1; imbalance < 100; imbalance *= 1.001) {
        RatioInterval const own = imbalance_class(imbalance);
        EXPECT_TRUE(own.contains(imbalance)) << imbalance;
        EXPECT_EQ(imbalance_class(own.min), own) << imbalance;
        RatioInterval const next = imbalance_class(std::nextafter(own.max, 200.0));
        EXPECT_FALSE(own.meets(next)) << imbalance;
        EXPECT_NEAR(next.min / own.min, std::sqrt(2.0), 1e-9);
    }
}

/// Observations of an exchange, made uneven so.
std::vector<Observation> uneven(std::vector<Observation> all, double imbalance, std::string const& skew) {
    for (Observation& one : all) {
        one.key.operation = TunedOperation::exchange;
        one.key.dtype = one.key.reduction = "";
        one.key.uniform = false;
        one.key.imbalance = imbalance_class(imbalance).min;
        one.skew = skew;
    }
    return all;
}

TEST(UnevenExchanges, OfOtherImbalancesHaveRulesOfTheirOwn) {
    Truth const even{{"blocking", constant_time}, {"pairwise", [](Bytes) { return 20'000.0; }}};
    Truth const hot{{"blocking", constant_time}, {"pairwise", [](Bytes) { return 5'000.0; }}};
    auto search = uneven(observe_truth(even, {{4096}}), 1, "balanced");
    auto const more = uneven(observe_truth(hot, {{4096}}), 2.5, "hot_rank:5");
    search.insert(search.end(), more.begin(), more.end());
    Built const built = build_rules(search, search, test_policy(), false);
    ASSERT_EQ(built.rules.size(), 2U);
    EXPECT_EQ(built.rules[0].choose.method, default_method);
    EXPECT_EQ(built.rules[1].choose.method, "pairwise");
    EXPECT_EQ(built.rules[1].when.imbalance, imbalance_class(2.5));

    auto const alike = uneven(observe_truth(hot, {{4096}}), 2.6, "zipf:1");
    search.insert(search.end(), alike.begin(), alike.end());
    EXPECT_THROW((void)build_rules(search, {}, test_policy(), false), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning

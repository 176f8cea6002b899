// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/build/next_sweep.hpp"
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
        RatioInterval const next = imbalance_class(std::nextafter(own.max, 200.0));
        EXPECT_FALSE(own.meets(next)) << imbalance;
        EXPECT_NEAR(next.min / own.min, std::sqrt(2.0), 1e-9);
    }
}

/// Observations of an exchange, made uneven so.
std::vector<Observation> uneven(std::vector<Observation> all, double imbalance, std::string const& skew) {
    for (Observation& one : all) {
        one.conditions.operation = TunedOperation::exchange;
        one.conditions.dtype = one.conditions.reduction = "";
        one.conditions.uniform = false;
        one.conditions.imbalance = imbalance_class(imbalance);
        one.conditions.skew = skew;
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
    Built const unconfirmed = build_rules(search, {}, test_policy(), false);
    EXPECT_NE(
        sweep_file("again", winners_again(unconfirmed, Outcome::unconfirmed), {8}).find("skew = \"hot_rank:5\"\n"),
        std::string::npos);

    auto const alike = uneven(observe_truth(hot, {{4096}}), 2.6, "zipf:1");
    search.insert(search.end(), alike.begin(), alike.end());
    EXPECT_THROW((void)build_rules(search, {}, test_policy(), false), UsageError);
}

TEST(UnevenExchanges, OfATrafficAreMadeByAHotRank) {
    Observation const seen = uneven(observe_truth({{"blocking", constant_time}}, {{4096}}), 2, "").front();
    std::string const text = sweep_file("search", {{seen.conditions, {4096}, {"all"}, "mpi"}}, {8});
    EXPECT_EQ(text.find("cache ="), std::string::npos);
    std::size_t const at = text.find("skew = \"hot_rank:");
    ASSERT_NE(at, std::string::npos) << text;
    double const factor = std::stod(text.substr(at + std::string("skew = \"hot_rank:").size()));
    // A hot rank gets `factor` of factor + 3 shares, and a mean rank one of 4.
    EXPECT_TRUE(seen.conditions.imbalance->contains(4 * factor / (factor + 3))) << factor;
}

TEST(UnevenExchanges, AreReachedWhereTheirClassGoesBeyondWhatRanksCan) {
    Observation seen = uneven(observe_truth({{"blocking", constant_time}}, {{4096}}), 2.9, "").front();
    seen.conditions.ranks = 3;
    std::string const text = sweep_file("search", {{seen.conditions, {4096}, {"all"}, "mpi"}}, {8});
    std::size_t const at = text.find("skew = \"hot_rank:");
    ASSERT_NE(at, std::string::npos) << text;
    double const factor = std::stod(text.substr(at + std::string("skew = \"hot_rank:").size()));
    EXPECT_TRUE(seen.conditions.imbalance->contains(3 * factor / (factor + 2))) << factor;
    EXPECT_TRUE(can_be_made(seen.conditions));
    seen.conditions.ranks = 4;
    seen.conditions.imbalance = imbalance_class(4);  // one rank gets all
    EXPECT_FALSE(can_be_made(seen.conditions));
}

}  // namespace
}  // namespace dlmb::tuning

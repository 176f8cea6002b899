// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the order of samples says, on series worked out by hand and on random ones of a fixed seed.
#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"
#include "common/base/statistics/series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace dlmb::measure {
namespace {

std::vector<double> independent(std::size_t n, std::uint64_t seed) {
    RandomSequence random(seed, 0, 0, 0);
    std::vector<double> values(n);
    for (double& value : values) {
        value = 100 + exact::normal_quantile(to_unit(random.next()));
    }
    return values;
}

// Ranks 1..5 less their mean 3: -2 -1 0 1 2. Squares add up to 10, neighbours' products to 2 + 0 + 0 + 2 = 4.
TEST(Series, TheLagOneCorrelationIsThatOfTheRanks) {
    EXPECT_DOUBLE_EQ(statistics::rank_lag1(std::vector<double>{10, 20, 30, 40, 5000}), 0.4);
    // Ranks 1 5 2 4 3 less 3: -2 2 -1 1 0. Products -4 - 2 - 1 + 0 = -7.
    EXPECT_DOUBLE_EQ(statistics::rank_lag1(std::vector<double>{1, 9, 2, 8, 3}), -0.7);
    // Two ties share rank 1.5, two 3.5: -1 -1 1 1; squares 4, products 1 - 1 + 1.
    EXPECT_DOUBLE_EQ(statistics::rank_lag1(std::vector<double>{7, 7, 8, 8}), 0.25);
    EXPECT_EQ(statistics::rank_lag1(std::vector<double>{7, 7, 7}), 0);
    EXPECT_EQ(statistics::rank_lag1(std::vector<double>{7}), 0);
}

// Of -2 -1 0 1 2: rho_1 = 0.4, rho_2 = (0 - 1 + 0) / 10 = -0.1: the pair 0.3 counts. rho_3 = (-2 - 2) / 10 ends it.
TEST(Series, TheEffectiveSizeStopsAtTheFirstNegativePair) {
    EXPECT_DOUBLE_EQ(statistics::effective_samples(std::vector<double>{1, 2, 3, 4, 5}), 5 / (1 + 2 * 0.3));
    // -2 2 -1 1 0: rho_1 = -0.7, rho_2 = (2 + 2 + 0) / 10: the first pair is negative already.
    EXPECT_EQ(statistics::effective_samples(std::vector<double>{1, 9, 2, 8, 3}), 5);
    EXPECT_EQ(statistics::effective_samples(std::vector<double>{7, 7, 7}), 3);
}

TEST(Series, IndependentSamplesCountInFullAndRepeatedOnesOnce) {
    std::vector<double> const once = independent(400, 1);
    EXPECT_NEAR(statistics::rank_lag1(once), 0, 0.15);  // three times 1 / sqrt(400)
    EXPECT_GT(statistics::effective_samples(once), 250);
    std::vector<double> tenfold;
    for (double const value : once) {
        tenfold.insert(tenfold.end(), 10, value);
    }
    EXPECT_NEAR(statistics::rank_lag1(tenfold), 0.9, 0.02);
    EXPECT_LT(statistics::effective_samples(tenfold), 600);  // of 4000
}

// 100 + i: the slope is 1 per sample, 10 over ten of them; their median is 104.5.
TEST(Series, DriftIsTheChangeOverTheWholeCell) {
    std::vector<double> rising(10);
    std::iota(rising.begin(), rising.end(), 100.0);
    EXPECT_DOUBLE_EQ(statistics::relative_drift(rising), 10 / 104.5);
    std::vector<double> const falling(rising.rbegin(), rising.rend());
    EXPECT_DOUBLE_EQ(statistics::relative_drift(falling), -10 / 104.5);
    rising[3] = 1e9;  // 36 of the 45 pairs do not know of it
    EXPECT_NEAR(statistics::relative_drift(rising), 10 / 105.0, 0.03);
    EXPECT_EQ(statistics::relative_drift(std::vector<double>{5}), 0);
}

TEST(Series, BlocksAreAsEquallyLongAsTheyCanBe) {
    std::vector<double> values(250);
    std::iota(values.begin(), values.end(), 0.0);
    std::vector<double> const medians = statistics::block_medians(values);
    ASSERT_EQ(medians.size(), 100U);
    EXPECT_EQ(medians[0], 0.5);  // samples 0 and 1
    EXPECT_EQ(medians[1], 3);    // samples 2, 3 and 4
    EXPECT_EQ(statistics::block_medians(std::vector<double>{3, 1}), (std::vector<double>{3, 1}));
}

TEST(Series, AStepIsFoundWhereItIs) {
    std::vector<double> values = independent(200, 2);
    for (std::size_t i = 140; i < values.size(); ++i) {
        values[i] *= 7;
    }
    statistics::LevelStep const step = statistics::find_step(values);
    EXPECT_EQ(step.at, 140U);
    EXPECT_LT(step.probability, 1e-6);
    EXPECT_NEAR(step.change, 6, 0.05);
    EXPECT_GT(statistics::find_step(independent(200, 3)).probability, 0.01);
}

// Ranks -1.5 -0.5 0.5 1.5: cumulative -1.5, -2, -1.5, so K = 4 and p = 2 exp(-6 16 / (64 + 16)).
TEST(Series, TheProbabilityOfAStepIsPettitts) {
    statistics::LevelStep const step = statistics::find_step(std::vector<double>{1, 2, 3, 4});
    EXPECT_EQ(step.at, 2U);
    EXPECT_DOUBLE_EQ(step.probability, 2 * std::exp(-1.2));
    EXPECT_DOUBLE_EQ(step.change, 3.5 / 1.5 - 1);
}

TEST(Series, KnownDifferencesOfDrawsAreDividedOut) {
    std::vector<Nanoseconds> samples;
    for (int pass = 0; pass < 10; ++pass) {
        samples.insert(samples.end(), {100, 300});
    }
    EXPECT_EQ(statistics::without_draws(samples, 2), std::vector<double>(20, 1.0));
    EXPECT_EQ(statistics::without_draws(samples, 1).front(), 100);
    EXPECT_TRUE(statistics::without_draws(samples, 3).empty());  // seven samples of a draw do not tell its median
}

}  // namespace
}  // namespace dlmb::measure

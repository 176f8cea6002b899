// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The exact tests against subsets counted one by one and examples computed by hand.
#include "common/base/statistics/rank_test.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace dlmb::measure {
namespace {

using Values = std::vector<double>;

TEST(ProbabilityByChance, AgreesWithHandComputedExamples) {
    EXPECT_NEAR(statistics::probability_by_chance(Values{.90, .91, .92, .93, .94, .95, .96, .97}), 1.0 / 256, 1e-12);
    // Ranks 1 to 5, the positive one is the smallest: sums of 0 and 1 of 32.
    EXPECT_NEAR(statistics::probability_by_chance(Values{1.01, .9, .8, .7, .6}), 2.0 / 32, 1e-12);
    // The positive one is the third: 0; 1; 2; 3 and 1 + 2.
    EXPECT_NEAR(statistics::probability_by_chance(Values{.99, .95, 1.1, .8, .7}), 5.0 / 32, 1e-12);
    EXPECT_EQ(statistics::probability_by_chance(Values{}), 1);
    EXPECT_EQ(statistics::probability_by_chance(Values{1, 1, 1}), 1);
    EXPECT_EQ(statistics::probability_by_chance(Values{1.1, 1.2, 1.3}), 1);
}

/// By listing all signs.
double by_enumeration(Values const& ratios) {
    Values sizes;
    double observed = 0;
    for (double const ratio : ratios) {
        if (ratio != 1) {
            sizes.push_back(std::abs(std::log(ratio)));
        }
    }
    auto const rank = [&](std::size_t i) {
        double sum = 0.5;
        for (double const other : sizes) {
            sum += other < sizes[i] ? 1 : other == sizes[i] ? 0.5 : 0;
        }
        return sum;
    };
    std::size_t place = 0;
    for (double const ratio : ratios) {
        observed += ratio > 1 ? rank(place) : 0;
        place += ratio != 1 ? 1 : 0;
    }
    double as_low = 0;
    std::size_t const signs = std::size_t{1} << sizes.size();
    for (std::size_t mask = 0; mask < signs; ++mask) {
        double sum = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            sum += (mask >> i & 1U) != 0 ? rank(i) : 0;
        }
        as_low += sum <= observed + 1e-9 ? 1 : 0;
    }
    return as_low / static_cast<double>(signs);
}

TEST(ProbabilityByChance, AgreesWithEnumerationAlsoWithTies) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 60; ++trial) {
        Values ratios(1 + random() % 9);
        for (double& ratio : ratios) {
            ratio = std::exp2(static_cast<double>(random() % 7) - 3);
        }
        EXPECT_NEAR(statistics::probability_by_chance(ratios), by_enumeration(ratios), 1e-12);
    }
}

// The interval of 8 pairs leaves out the 3 lowest and the 3 highest of the 36 means: P(W <= 3) is 5/256, P(W <= 4) is
// 7/256 (Lehmann, Nonparametrics, table H).
TEST(RatioOf, IsTheMedianOfTheMeansOfTwo) {
    Values ratios;
    for (int power = 0; power < 8; ++power) {
        ratios.push_back(std::exp2(power));
    }
    statistics::Ratio const ratio = statistics::ratio_of(ratios);
    EXPECT_NEAR(ratio.estimate, std::exp2(3.5), 1e-9);
    EXPECT_NEAR(ratio.low, std::exp2(1.0), 1e-9);  // means in order: 0, 0.5, 1, 1, ...
    EXPECT_NEAR(ratio.high, std::exp2(6.0), 1e-9);
}

TEST(RatioOf, HasNoIntervalFromTooFewLaunches) {
    statistics::Ratio const ratio = statistics::ratio_of(Values{2, 2});
    EXPECT_DOUBLE_EQ(ratio.estimate, 2);
    EXPECT_EQ(ratio.low, 0);
    EXPECT_TRUE(std::isinf(ratio.high));
}

TEST(Discoveries, DependOnHowManyAreAsked) {
    Values probabilities(100, 0.5);
    probabilities[3] = 7.77e-5;
    EXPECT_TRUE(statistics::discoveries(probabilities, 0.05)[3]);
    probabilities[3] = .00397;
    EXPECT_FALSE(statistics::discoveries(probabilities, 0.05)[3]);
    EXPECT_EQ(statistics::discoveries(Values{.03, .04, .9}, 0.06), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace dlmb::measure

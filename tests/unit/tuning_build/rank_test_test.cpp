// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/rank_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace dlmb::tuning {
namespace {

using Values = std::vector<double>;

// The numbers with the same inputs as dlmb_compare's tests; there "worse" is higher, so the sides change places.
TEST(ProbabilityOfLuck, AgreesWithHandComputedExamples) {
    EXPECT_NEAR(probability_of_luck(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}), 1.0 / 252, 1e-12);
    EXPECT_NEAR(probability_of_luck(Values{1, 2, 2, 3, 5}, Values{2, 4, 5, 5, 6}), .075397, 1e-6);
    EXPECT_NEAR(probability_of_luck(Values{10.0, 10.1, 10.2, 10.3, 10.4}, Values{10.25, 10.6, 10.7, 10.8, 10.9}),
                4.0 / 252, 1e-12);
    EXPECT_EQ(probability_of_luck(Values{}, Values{1}), 1);
    EXPECT_EQ(probability_of_luck(Values{3, 3, 3}, Values{3, 3, 3}), 1);
}

/// By listing all subsets.
double by_enumeration(Values const& candidate, Values const& reference) {
    Values all = candidate;
    all.insert(all.end(), reference.begin(), reference.end());
    auto const rank_sum = [&](std::vector<bool> const& chosen) {
        double sum = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (chosen[i]) {
                for (double const other : all) {
                    sum += other < all[i] ? 1 : other == all[i] ? 0.5 : 0;
                }
            }
        }
        return sum;
    };
    std::vector<bool> mask(all.size(), false);
    std::fill_n(mask.begin(), candidate.size(), true);
    double const observed = rank_sum(mask);
    double as_low = 0;
    double count = 0;
    do {
        as_low += rank_sum(mask) <= observed + 1e-9 ? 1 : 0;
        ++count;
    } while (std::prev_permutation(mask.begin(), mask.end()));
    return as_low / count;
}

TEST(ProbabilityOfLuck, AgreesWithEnumerationAlsoWithTies) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 60; ++trial) {
        Values candidate(1 + random() % 6);
        Values reference(1 + random() % 6);
        for (Values* side : {&candidate, &reference}) {
            for (double& value : *side) {
                value = static_cast<double>(random() % 7);
            }
        }
        EXPECT_NEAR(probability_of_luck(candidate, reference), by_enumeration(candidate, reference), 1e-12);
    }
}

TEST(RatioOf, AgreesWithHandComputedExamples) {
    Values const base{100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5};
    Values shifted = base;
    for (double& value : shifted) {
        value += 0.2;
    }
    Ratio const alike = ratio_of(shifted, base);
    EXPECT_NEAR(alike.estimate, 1.00200, 1e-5);
    EXPECT_NEAR(alike.low, .98719, 1e-5);
    EXPECT_NEAR(alike.high, 1.01700, 1e-5);
    Ratio const slower = ratio_of(Values{105, 104, 106, 103, 107, 104.5, 105.5, 103.5}, base);
    EXPECT_NEAR(slower.estimate, 1.04511, 1e-5);
    EXPECT_NEAR(slower.low, 1.02985, 1e-5);
    EXPECT_NEAR(slower.high, 1.06030, 1e-5);
}

TEST(RatioOf, HasNoIntervalFromTooFewLaunches) {
    Ratio const ratio = ratio_of(Values{2, 2}, Values{1, 1});
    EXPECT_DOUBLE_EQ(ratio.estimate, 2);
    EXPECT_EQ(ratio.low, 0);
    EXPECT_TRUE(std::isinf(ratio.high));
}

TEST(Discoveries, DependOnHowManyAreAsked) {
    Values probabilities(100, 0.5);
    probabilities[3] = 7.77e-5;  // 8 launches per side, separated
    EXPECT_TRUE(discoveries(probabilities, 0.05)[3]);
    probabilities[3] = .00397;  // 5 per side
    EXPECT_FALSE(discoveries(probabilities, 0.05)[3]);
    EXPECT_EQ(discoveries(Values{.03, .04, .9}, 0.06), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace dlmb::tuning

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a comparison of launches can see: the exact test against subsets counted one by one, the power against
// simulations made apart from this code.
#include "common/measure/statistics/detection.hpp"
#include "common/measure/statistics/rank_test.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace dlmb::measure {
namespace {

constexpr double margin = 0.03;

/// Over all choices of the candidate's places among the sorted values, how many win exactly u pairs.
std::vector<double> counted(std::size_t baseline, std::size_t candidate) {
    std::vector<double> share(baseline * candidate + 1, 0);
    double subsets = 0;
    for (std::uint32_t places = 0; places < 1U << (baseline + candidate); ++places) {
        if (std::popcount(places) != static_cast<int>(candidate)) {
            continue;
        }
        std::size_t wins = 0;
        std::size_t below = 0;  // of the baseline
        for (std::size_t i = 0; i < baseline + candidate; ++i) {
            bool const ours = (places >> i & 1U) != 0;
            wins += ours ? below : 0;
            below += ours ? 0 : 1;
        }
        share[wins] += 1;
        subsets += 1;
    }
    for (double& each : share) {
        each /= subsets;
    }
    return share;
}

TEST(RankTest, TheDistributionIsThatOfAllSubsets) {
    for (std::size_t b = 1; b <= 6; ++b) {
        for (std::size_t c = 1; c <= 6; ++c) {
            std::vector<double> const expected = counted(b, c);
            std::vector<double> const found = pair_distribution(b, c);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t u = 0; u < expected.size(); ++u) {
                EXPECT_NEAR(found[u], expected[u], 1e-12) << b << " " << c << " " << u;
            }
        }
    }
}

// 5 against 5: all 25 pairs have 1 / 252 = .00397, 24 or more 2 / 252. 8 against 8: 1 / 12870. 4 against 4: 1 / 70.
TEST(RankTest, TheCriticalCountIsTheLeastOneThatIsUnlikelyEnough) {
    EXPECT_EQ(critical_pairs(5, 5, 0.005), 25U);
    EXPECT_EQ(critical_pairs(5, 5, 0.008), 24U);
    EXPECT_EQ(critical_pairs(5, 5, 0.0039), std::nullopt);
    EXPECT_EQ(critical_pairs(8, 8, 7.8e-5), 64U);
    EXPECT_EQ(critical_pairs(4, 4, 0.005), std::nullopt);
}

// Powers that the measurement protocol quotes for p <= .005 and a ratio of 1.03 or more, from simulations of its own:
// two of a thousand comparisons each differ by up to 0.04.
TEST(Detection, ThePowerIsThatOfTheProtocol) {
    Detection const five(5);
    Detection const eight(8);
    Detection const ten(10);
    EXPECT_NEAR(eight.power(0.01, margin, 0.02), 0.05, 0.04);
    EXPECT_NEAR(eight.power(0.01, margin, 0.03), 0.50, 0.04);
    EXPECT_NEAR(eight.power(0.01, margin, 0.05), 1.00, 0.01);
    EXPECT_NEAR(five.power(0.02, margin, 0.05), 0.54, 0.04);
    EXPECT_NEAR(eight.power(0.02, margin, 0.05), 0.89, 0.04);
    EXPECT_NEAR(ten.power(0.02, margin, 0.05), 0.95, 0.04);
    EXPECT_NEAR(five.power(0.02, margin, 0.03), 0.16, 0.04);
    EXPECT_NEAR(eight.power(0.02, margin, 0.03), 0.34, 0.04);
    EXPECT_NEAR(ten.power(0.02, margin, 0.03), 0.43, 0.04);
    EXPECT_LE(eight.power(0.02, margin, 0), 0.002);  // a false alarm
}

TEST(Detection, TheLeastSlowdownIsFoundWithTheAskedPower) {
    Detection const eight(8);
    for (double const spread : {0.005, 0.02, 0.1}) {
        double const least = eight.least_slowdown(spread, margin, 0.8).value();
        EXPECT_NEAR(eight.power(spread, margin, least), 0.8, 0.001);
        EXPECT_GT(least, margin);
    }
    EXPECT_NEAR(eight.least_slowdown(0, margin, 0.8).value(), margin, 1e-12);  // nothing below the margin
}

TEST(Detection, MoreLaunchesSeeLess) {
    double before = 1;
    for (std::size_t const launches : {5U, 8U, 12U, 16U}) {
        double const least = Detection(launches).least_slowdown(0.05, margin, 0.8).value();
        EXPECT_LT(least, before);
        before = least;
    }
    EXPECT_FALSE(Detection(4).least_slowdown(0.05, margin, 0.8).has_value());
}

// Logarithms -x, 0, x: variance 2 x^2 / 2.
TEST(Detection, SpreadIsThatOfTheLogarithms) {
    EXPECT_NEAR(log_spread(std::vector<double>{100 * std::exp(-0.02), 100, 100 * std::exp(0.02)}), 0.02, 1e-12);
}

// 10 % quantiles of chi^2 from tables: 1.064 with 4 degrees of freedom, 2.833 with 7.
TEST(Detection, TheTrueSpreadMayBeLargerThanThatOfFewLaunches) {
    EXPECT_NEAR(spread_bound(5), std::sqrt(4 / 1.064), 0.01);
    EXPECT_NEAR(spread_bound(8), std::sqrt(7 / 2.833), 0.01);
    EXPECT_LT(spread_bound(100), 1.11);
}

}  // namespace
}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a comparison of launches can see: the power against simulations made apart from this code.
#include "common/base/statistics/rank_test.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlmb::measure {
namespace {

constexpr double margin = 0.03;

constexpr std::size_t most_trials = 4000;  // that statistics::Detection simulates

/// How often a slowdown is found: the largest power whose least slowdown is no larger.
double power(statistics::Detection const& detection, double spread, double slowdown) {
    std::size_t found = 0;
    for (std::size_t beyond = most_trials + 1; beyond - found > 1;) {
        std::size_t const trials = (found + beyond) / 2;
        double const asked = (static_cast<double>(trials) - 0.5) / most_trials;  // which takes so many whole trials
        (detection.least_slowdown(spread, margin, asked).value() <= slowdown ? found : beyond) = trials;
    }
    return static_cast<double>(found) / most_trials;
}

// Powers that the measurement protocol quotes for p <= .005 and a ratio of 1.03 or more, from simulations of its own:
// two of a thousand comparisons each differ by up to 0.04.
TEST(Detection, ThePowerIsThatOfTheProtocol) {
    statistics::Detection const five(5);
    statistics::Detection const eight(8);
    statistics::Detection const ten(10);
    EXPECT_NEAR(power(eight, 0.01, 0.02), 0.05, 0.04);
    EXPECT_NEAR(power(eight, 0.01, 0.03), 0.50, 0.04);
    EXPECT_NEAR(power(eight, 0.01, 0.05), 1.00, 0.01);
    EXPECT_NEAR(power(five, 0.02, 0.05), 0.54, 0.04);
    EXPECT_NEAR(power(eight, 0.02, 0.05), 0.89, 0.04);
    EXPECT_NEAR(power(ten, 0.02, 0.05), 0.95, 0.04);
    EXPECT_NEAR(power(five, 0.02, 0.03), 0.16, 0.04);
    EXPECT_NEAR(power(eight, 0.02, 0.03), 0.34, 0.04);
    EXPECT_NEAR(power(ten, 0.02, 0.03), 0.43, 0.04);
    EXPECT_LE(power(eight, 0.02, 0), 0.002);  // a false alarm
}

TEST(Detection, TheLeastSlowdownIsFoundWithTheAskedPower) {
    statistics::Detection const eight(8);
    for (double const spread : {0.005, 0.02, 0.1}) {
        double const least = eight.least_slowdown(spread, margin, 0.8).value();
        EXPECT_NEAR(power(eight, spread, least), 0.8, 0.001);
        EXPECT_GT(least, margin);
    }
    EXPECT_NEAR(eight.least_slowdown(0, margin, 0.8).value(), margin, 1e-12);  // nothing below the margin
}

TEST(Detection, MoreLaunchesSeeLess) {
    double before = 1;
    for (std::size_t const launches : {5U, 8U, 12U, 16U}) {
        double const least = statistics::Detection(launches).least_slowdown(0.05, margin, 0.8).value();
        EXPECT_LT(least, before);
        before = least;
    }
    EXPECT_FALSE(statistics::Detection(4).least_slowdown(0.05, margin, 0.8).has_value());
}

// Logarithms -x, 0, x: variance 2 x^2 / 2.
TEST(Detection, SpreadIsThatOfTheLogarithms) {
    EXPECT_NEAR(statistics::log_spread(std::vector<double>{100 * std::exp(-0.02), 100, 100 * std::exp(0.02)}), 0.02,
                1e-12);
}

// 10 % quantiles of chi^2 from tables: 1.064 with 4 degrees of freedom, 2.833 with 7.
TEST(Detection, TheTrueSpreadMayBeLargerThanThatOfFewLaunches) {
    EXPECT_NEAR(statistics::spread_bound(5), std::sqrt(4 / 1.064), 0.01);
    EXPECT_NEAR(statistics::spread_bound(8), std::sqrt(7 / 2.833), 0.01);
    EXPECT_LT(statistics::spread_bound(100), 1.11);
}

}  // namespace
}  // namespace dlmb::measure

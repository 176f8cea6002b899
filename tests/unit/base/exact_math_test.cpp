// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/exact_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlmb {
namespace {

TEST(ExactMath, LogAgreesWithLibmToAFewUlps) {
    for (double x = 0x1p-33; x < 1e12; x *= 1.0137) {
        EXPECT_NEAR(exact::log(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
    }
    EXPECT_EQ(exact::log(1.0), 0.0);
}

TEST(ExactMath, LogOfAnUniformNextToOneKeepsItsRelativePrecision) {
    double const u = 1 - 0x1p-33;
    EXPECT_NEAR(-exact::log(u) / 0x1p-33, 1.0, 1e-9);  // -ln(1 - x) = x + x^2/2 ...
    EXPECT_GT(-exact::log(u), 1 - u);                  // what the race's quick refusal rests on
}

TEST(ExactMath, ExpAgreesWithLibmToAFewUlps) {
    for (double x = -690; x < 690; x += 0.731) {
        EXPECT_NEAR(exact::exp(x) / std::exp(x), 1.0, 5e-16) << x;
    }
    EXPECT_EQ(exact::exp(0.0), 1.0);
}

TEST(ExactMath, PowAgreesWithLibm) {
    for (double y = -3; y <= 3; y += 0.25) {
        EXPECT_NEAR(exact::pow(3276.8, y) / std::pow(3276.8, y), 1.0, 1e-14) << y;
    }
}

// Tables of the standard normal distribution.
TEST(ExactMath, NormalQuantileGivesTheTabulatedValues) {
    EXPECT_EQ(exact::normal_quantile(0.5), 0.0);
    EXPECT_NEAR(exact::normal_quantile(0.975), 1.959963984540054, 1e-14);
    EXPECT_NEAR(exact::normal_quantile(0.9), 1.2815515655446004, 1e-14);
    EXPECT_NEAR(exact::normal_quantile(0.025), -1.959963984540054, 1e-14);
    EXPECT_NEAR(exact::normal_quantile(0.999), 3.090232306167813, 1e-13);
}

TEST(ExactMath, NormalQuantileInvertsTheDistributionOfLibm) {
    for (double p = 1e-9; p < 1; p = p < 0.5 ? p * 1.7 : 1 - (1 - p) / 1.7) {
        if (p > 1 - 1e-9) {
            break;
        }
        double const x = exact::normal_quantile(p);
        EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)), p, 1e-14) << p;
    }
    EXPECT_THROW((void)exact::normal_quantile(0), Error);
    EXPECT_THROW((void)exact::normal_quantile(1), Error);
}

TEST(ExactMath, RoundsHalvesToEven) {
    EXPECT_EQ(exact::round_half_even(0.5), 0U);
    EXPECT_EQ(exact::round_half_even(1.5), 2U);
    EXPECT_EQ(exact::round_half_even(2.5), 2U);
    EXPECT_EQ(exact::round_half_even(2.51), 3U);
    EXPECT_EQ(exact::round_half_even(2.49), 2U);
}

}  // namespace
}  // namespace dlmb

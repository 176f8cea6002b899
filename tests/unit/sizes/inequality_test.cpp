// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/inequality.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlmb {
namespace {

TEST(Inequality, EqualLoadsHaveNoGini) {
    std::vector<std::uint64_t> const loads(7, 5);
    EXPECT_NEAR(gini(loads), 0, 1e-15);
    EXPECT_NEAR(max_over_mean(loads), 1, 1e-15);
}

TEST(Inequality, OneBinWithEverythingHasTheLargestGini) {
    std::vector<std::uint64_t> const loads{0, 0, 9, 0};
    EXPECT_NEAR(gini(loads), 3.0 / 4, 1e-15);  // (n - 1) / n
    EXPECT_NEAR(max_over_mean(loads), 4, 1e-15);
}

// By hand: 2 * (1*1 + 2*2 + 3*3) / (3 * 6) - 4/3 = 28/18 - 24/18 = 2/9.
TEST(Inequality, OrderDoesNotMatter) {
    EXPECT_NEAR(gini(std::vector<double>{3, 1, 2}), 2.0 / 9, 1e-15);
    EXPECT_NEAR(gini(std::vector<double>{1, 2, 3}), 2.0 / 9, 1e-15);
}

TEST(Inequality, NoLoadAtAllIsEven) {
    std::vector<std::uint64_t> const loads(3, 0);
    EXPECT_EQ(gini(loads), 0);
    EXPECT_EQ(max_over_mean(loads), 1);
}

}  // namespace
}  // namespace dlmb

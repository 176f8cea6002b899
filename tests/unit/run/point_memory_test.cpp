// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/point_memory.hpp"

#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

constexpr PointLimits limits{1000, 10'000};
constexpr Bytes enough = 5'000;

TEST(BatchLimits, PoolsTogetherStayWithinWhatOnePointMayTake) {
    EXPECT_TRUE(fits_beside({600, 0}, {400, 0}, limits, enough));
    EXPECT_FALSE(fits_beside({600, 0}, {401, 0}, limits, enough));
}

TEST(BatchLimits, HalfOfTheMemoryThatWasFreeStaysFree) {
    EXPECT_FALSE(fits_beside({}, {}, limits, enough - 1));
    EXPECT_TRUE(fits_beside({}, {}, {1000, 0}, 0)) << "nobody knows how much is free";
}

TEST(BatchLimits, BackendsCanTellAllCompiledStepsApart) {
    EXPECT_TRUE(fits_beside({0, most_steps_of_a_batch - 7}, {0, 7}, limits, enough));
    EXPECT_FALSE(fits_beside({0, most_steps_of_a_batch - 7}, {0, 8}, limits, enough));
}

}  // namespace
}  // namespace dlmb::run

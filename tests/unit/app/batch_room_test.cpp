// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/batch.hpp"

#include <gtest/gtest.h>

namespace dlmb::app {
namespace {

constexpr Room room{1000, 10'000};
constexpr Bytes enough = 5'000;

TEST(BatchRoom, PoolsTogetherStayWithinWhatOnePointMayTake) {
    EXPECT_TRUE(fits_beside({600, 0}, {400, 0}, room, enough));
    EXPECT_FALSE(fits_beside({600, 0}, {401, 0}, room, enough));
}

TEST(BatchRoom, HalfOfTheMemoryThatWasFreeStaysFree) {
    EXPECT_FALSE(fits_beside({}, {}, room, enough - 1));
    EXPECT_TRUE(fits_beside({}, {}, {1000, 0}, 0)) << "nobody knows how much is free";
}

TEST(BatchRoom, BackendsCanTellAllCompiledStepsApart) {
    EXPECT_TRUE(fits_beside({0, most_steps_of_a_batch - 7}, {0, 7}, room, enough));
    EXPECT_FALSE(fits_beside({0, most_steps_of_a_batch - 7}, {0, 8}, room, enough));
}

}  // namespace
}  // namespace dlmb::app

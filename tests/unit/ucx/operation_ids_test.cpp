// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/operation_ids.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

TEST(OperationIds, RangesInUseDoNotOverlap) {
    OperationIds ids(10);
    EXPECT_EQ(ids.take(4), 0U);
    EXPECT_EQ(ids.take(4), 4U);
    EXPECT_EQ(ids.take(2), 8U);
}

TEST(OperationIds, AFullSpaceGivesNothingAndAReturnedRangeIsUsedAgain) {
    OperationIds ids(10);
    EXPECT_EQ(ids.take(4), 0U);
    EXPECT_EQ(ids.take(6), 4U);
    EXPECT_EQ(ids.take(1), std::nullopt);
    ids.give_back(0);
    EXPECT_EQ(ids.take(5), std::nullopt) << "the gap has four";
    EXPECT_EQ(ids.take(4), 0U);
}

TEST(OperationIds, MoreThanTheWholeSpaceIsRefused) {
    OperationIds ids(10);
    EXPECT_EQ(ids.take(11), std::nullopt);
}

TEST(OperationIds, APlanWithoutStepsHoldsAnIdSoThatTheNextOneStartsElsewhere) {
    OperationIds ids(10);
    EXPECT_EQ(ids.take(0), 0U);
    EXPECT_EQ(ids.take(0), 1U);
}

TEST(OperationIds, ARangeGivesItselfBack) {
    OperationIds ids(4);
    {
        OperationRange const range(ids, ids.take(4).value());
        EXPECT_EQ(ids.take(1), std::nullopt);
    }
    EXPECT_EQ(ids.take(4), 0U);
}

}  // namespace
}  // namespace dlmb::ucx

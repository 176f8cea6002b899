// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/tags.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

constexpr std::uint64_t largest = tag_field_limit - 1;

TEST(Tag, FieldsStandSideBySideWithoutOverlap) {
    // kind 1 at bit 60, iteration at 40, operation at 20, source at 0: the layout of the header's first paragraph.
    EXPECT_EQ(make_tag(TagKind::wire_up, 0, 0), 0x1000000000000000U);
    EXPECT_EQ(make_tag(TagKind::payload, largest, 0), 0x200000FFFFF00000U);
    EXPECT_EQ(make_tag(TagKind::payload, 0, static_cast<Rank>(largest)), 0x20000000000FFFFFU);
    EXPECT_EQ(iteration_bits(largest), 0x0FFFFF0000000000U);
}

TEST(Tag, IterationsWrapInsteadOfReachingTheKind) {
    EXPECT_EQ(iteration_bits(tag_field_limit), 0U);
    EXPECT_EQ(iteration_bits(tag_field_limit + 5), iteration_bits(5));
}

TEST(OperationIds, AFullSpaceGivesNothingAndAReturnedRangeIsUsedAgain) {
    OperationIds ids(10);
    EXPECT_EQ(ids.take(11), std::nullopt);
    EXPECT_EQ(ids.take(4), 0U);
    EXPECT_EQ(ids.take(4), 4U);
    EXPECT_EQ(ids.take(2), 8U);
    EXPECT_EQ(ids.take(1), std::nullopt);
    ids.give_back(0);
    EXPECT_EQ(ids.take(5), std::nullopt) << "the gap has four";
    EXPECT_EQ(ids.take(4), 0U);
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

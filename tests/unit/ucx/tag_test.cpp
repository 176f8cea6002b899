// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/tag.hpp"

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

}  // namespace
}  // namespace dlmb::ucx

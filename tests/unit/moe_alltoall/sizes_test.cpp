// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/params.hpp"

#include <gtest/gtest.h>

namespace dlmb::moe_alltoall {
namespace {

TEST(RowBytes, OfDeepSeekV3AreThePublishedOnes) {
    EXPECT_EQ(dispatch_row_bytes(Element::bf16, 7168), 14336U);
    EXPECT_EQ(dispatch_row_bytes(Element::fp8, 7168), 7392U);  // 7168 + 4 * 56 scales
    EXPECT_EQ(combine_row_bytes(Element::fp8, 7168), 14336U);
    // DeepEP's byte accounting: fp8 with scales is exactly 0.515625 = (1 + 4/128) / 2 of bf16.
    EXPECT_EQ(7392.0 / 14336.0, 0.515625);
}

TEST(RowBytes, RoundABlockOfScalesUp) {
    EXPECT_EQ(dispatch_row_bytes(Element::fp8, 2880), 2880U + 92U);  // gpt-oss: 22.5 blocks of 128 need 23 scales
    EXPECT_EQ(dispatch_row_bytes(Element::fp8, 1), 5U);
}

TEST(RowBytes, ComeBackAsTheyWentExceptFp8) {
    EXPECT_EQ(dispatch_row_bytes(Element::fp32, 100), 400U);
    EXPECT_EQ(combine_row_bytes(Element::fp32, 100), 400U);
    EXPECT_EQ(dispatch_row_bytes(Element::fp16, 100), 200U);
    EXPECT_EQ(combine_row_bytes(Element::fp16, 100), 200U);
}

// DeepSpeed: max(ceil(T / E * factor * k), min).
TEST(Capacity, FollowsDeepSpeedsRule) {
    EXPECT_EQ(capacity(8192, 128, 1, {1'000'000, 4}), 64U);
    EXPECT_EQ(capacity(100, 64, 1, {1'000'000, 4}), 4U);  // ceil(1.56) = 2 is below the minimum
    EXPECT_EQ(capacity(100, 64, 1, {1'000'000, 0}), 2U);  // Megatron: the same without a minimum
    EXPECT_EQ(capacity(256, 64, 1, {1'000'000, 4}), 4U);  // exactly the minimum
    EXPECT_EQ(capacity(257, 64, 1, {1'000'000, 4}), 5U);  // one more rounds up
    EXPECT_EQ(capacity(0, 64, 2, {1'000'000, 4}), 4U);
}

// 70 * 1.1 is 77.00000000000001 in double arithmetic; the rule means 77.
TEST(Capacity, RoundsUpTheDecimalFactorExactly) {
    EXPECT_EQ(capacity(70, 1, 1, {1'100'000, 0}), 77U);
}

// Switch and Mesh-TensorFlow: int(1024 * 1.25 / 32) = 40 rows per group of 1024 tokens; here for top-2, 4 groups.
TEST(Capacity, ReachesTheSwitchRuleThroughTheFactor) {
    EXPECT_EQ(capacity(4096, 32, 2, {625'000, 4}), 4U * 40U);
}

TEST(Capacity, IsFixedWithFactorZero) {
    EXPECT_EQ(capacity(4096, 8, 1, {0, 64}), 64U);
}

TEST(Capacity, SurvivesProductsAbove64Bits) {
    std::uint64_t const tokens = std::uint64_t{1} << 31;
    EXPECT_EQ(capacity(tokens, 65536, 65536, {1'000'000'000'000, 0}), tokens * 1'000'000);
}

}  // namespace
}  // namespace dlmb::moe_alltoall

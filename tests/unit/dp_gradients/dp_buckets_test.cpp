// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/buckets.hpp"

#include <gtest/gtest.h>

namespace dlmb::dp_gradients {
namespace {

using Sizes = std::vector<std::uint64_t>;
using Buckets = std::vector<Bucket>;

TEST(DpBuckets, CloseWhenFullHoldsTheTensorThatFillsABucket) {
    Sizes const sizes{5, 5, 5, 5, 1};
    EXPECT_EQ(close_when_full(sizes, 5, 10), (Buckets{{5, 0, 0}, {10, 1, 2}, {6, 3, 4}}));
    EXPECT_EQ(close_when_full(sizes, 11, 10), (Buckets{{15, 0, 2}, {6, 3, 4}}));
    EXPECT_EQ(close_when_full(Sizes{}, 1, 1), Buckets{});
}

TEST(DpBuckets, CapsOfOneLeaveEveryTensorAloneAndEmptyOnesOut) {
    Sizes const sizes{7, 0, 9};
    EXPECT_EQ(close_when_full(sizes, 1, 1), (Buckets{{7, 0, 0}, {9, 2, 2}}));
}

TEST(DpBuckets, CloseBeforeOverflowNeverExceedsTheLimitButForOneLargeTensor) {
    Sizes const sizes{6, 4, 1, 20, 3};
    EXPECT_EQ(close_before_overflow(sizes, 10), (Buckets{{10, 0, 1}, {1, 2, 2}, {20, 3, 3}, {3, 4, 4}}));
}

// Without a distributed optimizer nothing is padded.
TEST(DpBuckets, MegatronAddsUntilFull) {
    Sizes const sizes{100, 100, 100};
    EXPECT_EQ(megatron_buckets(sizes, 150, 0), (Buckets{{200, 0, 1}, {100, 2, 2}}));
}

// Tensors start at multiples of 64 (100 -> 128), buckets end at multiples of lcm(3, 128) = 384.
TEST(DpBuckets, MegatronPadsForTheDistributedOptimizer) {
    Sizes const sizes{100, 300, 100};
    EXPECT_EQ(megatron_buckets(sizes, 400, 3), (Buckets{{768, 0, 1}, {384, 2, 2}}));
}

// max(40,000,000, 1,000,000 * ranks)
TEST(DpBuckets, MegatronBucketsGrowAbove40Ranks) {
    EXPECT_EQ(megatron_bucket_elements(8), 40'000'000U);
    EXPECT_EQ(megatron_bucket_elements(40), 40'000'000U);
    EXPECT_EQ(megatron_bucket_elements(512), 512'000'000U);
}

TEST(DpBuckets, ShardsCoverAllAndDivideByTheRanks) {
    EXPECT_EQ(gather_shards(100, 30, 8), (Sizes{40, 40, 40}));  // 33, 33, 34
    EXPECT_EQ(gather_shards(100, 0, 8), (Sizes{112}));          // DeepSpeed: 2 * 8 divide it
    EXPECT_EQ(gather_shards(100, 1000, 1), (Sizes{100}));
}

}  // namespace
}  // namespace dlmb::dp_gradients

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/sequence_parallel/pattern_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::sequence_parallel {
namespace {

TEST(SequenceParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(refusal({{"sp", "3"}}, {8, 8}), "--sp 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"sequence", "100"}}, {8, 8}), "--sequence 100: does not divide over 8 sequence-parallel ranks");
    EXPECT_EQ(
        refusal({{"heads", "12"}}, {8, 8}),
        "--kind ulysses: --heads 12 do not divide over 8 sequence-parallel ranks; uneven heads are not supported");
    EXPECT_EQ(refusal({{"kv-heads", "8"}}, {16, 8}),
              "--kind ulysses: --kv-heads 8 do not divide over 16 sequence-parallel ranks; uneven heads are not "
              "supported");
    EXPECT_EQ(refusal({{"kv-heads", "5"}}, {1, 1}), "--kv-heads 5: does not divide --heads 32");
}

TEST(SequenceParams, ARingNeedsNoHeadsPerRank) {
    EXPECT_EQ(refusal({{"kind", "ring"}, {"heads", "12"}}, {8, 8}), "accepted");
}

TEST(SequenceParams, UniformOnlyWhereBlocksLiePacked) {
    auto const is_uniform = [](Parameters const& overrides) {
        return make_pattern("", overrides, {8, 8})->operations().at(0).uniform;
    };
    EXPECT_TRUE(is_uniform({}));
    // One token and one head of 8 bf16: 16 bytes per peer.
    EXPECT_FALSE(is_uniform({{"sequence", "8"}, {"heads", "8"}, {"head-dim", "8"}}));
    // Keys alone are that small.
    EXPECT_FALSE(is_uniform({{"sequence", "8"}, {"heads", "32"}, {"kv-heads", "8"}, {"head-dim", "8"}}));
}

}  // namespace
}  // namespace dlmb::sequence_parallel

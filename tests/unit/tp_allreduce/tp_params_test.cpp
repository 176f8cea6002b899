// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tp_allreduce/pattern_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::tp_allreduce {
namespace {

TEST(TpParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(refusal({{"tp", "3"}}, {8, 8}), "--tp 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"pp", "3"}}, {8, 8}), "--pp 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"pp", "4"}, {"layers", "6"}}, {8, 8}), "--pp 4: does not divide --layers 6");
    EXPECT_EQ(refusal({{"pp", "2"}, {"tp", "8"}}, {8, 8}),
              "--tp 8: does not divide the 4 ranks of a stage (8 ranks, --pp 2)");
    EXPECT_EQ(refusal({{"sequence-parallel", "on"}, {"sequence", "100"}}, {8, 8}),
              "--sequence-parallel on: --sequence 100 does not divide over 8 tensor-parallel ranks");
    EXPECT_EQ(refusal({{"sequence-parallel", "on"}, {"phase", "decode"}, {"batch", "12"}}, {8, 8}),
              "--sequence-parallel on: 12 tokens do not divide over 8 tensor-parallel ranks");
}

TEST(TpParams, WrongValuesAreRefusedByName) {
    EXPECT_EQ(refusal({{"phase", "inference"}}, {1, 1}), "--phase 'inference': expected training, prefill, decode");
    EXPECT_EQ(refusal({{"hidden", "0"}}, {1, 1}), "--hidden '0': expected a whole number from 1 to 16777216");
    EXPECT_EQ(refusal({{"batch", "16777216"}, {"sequence", "16777216"}}, {1, 1}),
              "--batch 16777216 and --sequence 16777216 make 281474976710656 tokens; at most 4294967296 are possible");
}

TEST(TpParams, OnlyLogitsThatAreGatheredCanBePutInOrder) {
    std::string const only = "--pack host: only gathered logits are put in another order (--phase prefill or decode "
                             "with --logits allgather); all else is gathered by tokens, as it lies";
    EXPECT_EQ(refusal({{"pack", "host"}}, {2, 2}), only);
    EXPECT_EQ(refusal({{"pack", "host"}, {"phase", "decode"}, {"logits", "argmax"}}, {2, 2}), only);
    EXPECT_EQ(refusal({{"pack", "cuda"}, {"phase", "prefill"}, {"vocabulary", "20"}}, {2, 2}),
              "--pack cuda: rows of 20 B (--vocabulary 20 over 2 ranks, in bf16) are not a multiple of 8 B");
    EXPECT_EQ(refusal({{"pack", "fused"}, {"phase", "prefill"}}, {2, 2}), "accepted");
}

TEST(TpParams, EveryRankOfAStageIsInOneGroupByDefault) {
    EXPECT_EQ(plan_of("", {{"pp", "2"}}, {8, 8}, 5).groups.at(0).members, (std::vector<Rank>{4, 5, 6, 7}));
    EXPECT_EQ(plan_of("", {{"tp", "2"}}, {8, 8}, 5).groups.at(0).members, (std::vector<Rank>{4, 5}));
}

}  // namespace
}  // namespace dlmb::tp_allreduce

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/params.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::moe_alltoall {
namespace {

Params read(Parameters const& overrides, WorldShape const& world) {
    return read_params(resolve(type(), "", overrides), world);
}

TEST(MoeParams, AutomaticEpIsTheLargestDivisorNotAboveTheExperts) {
    EXPECT_EQ(automatic_ep(16, 8), 8U);
    EXPECT_EQ(automatic_ep(9, 8), 3U);
    EXPECT_EQ(automatic_ep(7, 8), 7U);
    EXPECT_EQ(automatic_ep(7, 6), 1U);
    EXPECT_EQ(automatic_ep(16384, 256), 256U);
    EXPECT_EQ(automatic_ep(1, 1), 1U);
}

TEST(MoeParams, ExpertsNeedNotDivideOverTheRanks) {
    Params const params = read({{"experts", "8"}, {"top-k", "2"}, {"ep", "3"}}, {3, 3});
    EXPECT_EQ(owners_of_experts(params), (std::vector<std::size_t>{0, 0, 1, 1, 1, 2, 2, 2}));  // from 8/3 and 16/3 on
}

TEST(MoeParams, RefusalsCarryTheNumbers) {
    EXPECT_EQ(refusal({{"ep", "3"}}, {8, 8}), "--ep 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"ep", "8"}, {"experts", "4"}, {"top-k", "2"}}, {8, 8}),
              "--ep 8: above --experts 4; a rank without an expert would receive nothing");
    EXPECT_EQ(refusal({{"top-k", "9"}, {"experts", "8"}}, {1, 1}), "--top-k '9': expected a whole number from 1 to 8");
    EXPECT_EQ(refusal({{"hidden", "4K"}}, {1, 1}), "--hidden '4K': expected a whole number from 1 to 16777216");
    EXPECT_EQ(refusal({{"capacity-factor", "-1"}}, {1, 1}),
              "--capacity-factor '-1': expected a number from 0 to 1000000");
    EXPECT_EQ(refusal({{"wire", "dense"}}, {1, 1}), "--wire 'dense': expected expanded, rank_dedup, node_dedup, "
                                                    "padded, low_latency; nearest: padded, expanded, node_dedup");
    EXPECT_EQ(refusal({{"expert-groups", "7"}}, {1, 1}), "--expert-groups 7: does not divide --experts 64");
    EXPECT_EQ(refusal({{"expert-groups", "32"}, {"group-limit", "2"}}, {1, 1}),
              "--top-k 6: above the 4 experts that --group-limit 2 of --expert-groups 32 leaves");
}

TEST(MoeParams, SizesBeyondWhatIsAddedUpAreRefused) {
    // 2^16 experts of 2^31 rows of 2^25 bytes, and 2^16 experts of 3 * 2^24 * 2^25 bytes: both 0 modulo 2^64.
    Parameters large{{"experts", "65536"}, {"top-k", "1"}, {"tokens", "1"}, {"hidden", "16777216"}};
    EXPECT_EQ(read(large, {2, 2}).hidden, 16777216U);
    large.insert({{"rebalance", "cyclic"}, {"expert-ffn", "16777216"}});
    EXPECT_EQ(refusal(large, {2, 2}),
              "--rebalance: 65536 experts of 1688849860263936 bytes in 1 layers of each expert-parallel group are more "
              "than 2^60 bytes; make --expert-ffn, --hidden or --layers smaller");
    large.erase("rebalance");
    large.insert({{"wire", "padded"}, {"min-capacity", "2147483648"}});
    EXPECT_EQ(refusal(large, {2, 2}),
              "--hidden 16777216 with 1.41e+14 rows per rank and layer, 1 layers and 2 ranks: more than 2^60 bytes; "
              "make --hidden, --tokens, --top-k, --min-capacity or --layers smaller");
    EXPECT_NE(refusal({{"tokens", "2147483648"}, {"hidden", "16777216"}}, {64, 8}).find("more than 2^60"),
              std::string::npos);
}

TEST(MoeParams, NodeDedupNeedsNodesAndGroupsThatFit) {
    EXPECT_EQ(refusal({{"wire", "node_dedup"}}, {8, 0}),
              "--wire node_dedup: the 8 ranks have no regular number of ranks per node");
    EXPECT_EQ(refusal({{"wire", "node_dedup"}, {"ep", "6"}}, {12, 4}),
              "--wire node_dedup: groups of --ep 6 ranks do not fit nodes of 4 ranks; one must divide the other");
    EXPECT_EQ(refusal({{"wire", "node_dedup"}, {"ep", "3"}}, {6, 4}),
              "--wire node_dedup: groups of --ep 3 ranks do not fit nodes of 4 ranks; one must divide the other");
    EXPECT_EQ(read({{"wire", "node_dedup"}, {"ep", "8"}}, {16, 4}).nodes(), 2U);
    EXPECT_EQ(read({{"wire", "node_dedup"}, {"ep", "2"}}, {8, 4}).nodes(), 1U);
    EXPECT_EQ(read({{"wire", "node_dedup"}, {"ep", "6"}}, {6, 8}).nodes(), 1U);  // half a node, but only one
}

TEST(MoeParams, IntraHostSkewNeedsNodes) {
    EXPECT_EQ(refusal({{"skew", "intra_host:4"}}, {8, 0}),
              "--skew 'intra_host:4': the 8 ranks have no regular number of ranks per node");
}

TEST(MoeParams, NoGroupsOrOneGroupOrNoLimitMeansNoGroupLimit) {
    EXPECT_FALSE(read({}, {1, 1}).group_limited());
    EXPECT_FALSE(read({{"expert-groups", "1"}, {"group-limit", "1"}}, {1, 1}).group_limited());
    EXPECT_FALSE(read({{"expert-groups", "8"}}, {1, 1}).group_limited());
    EXPECT_TRUE(read({{"expert-groups", "8"}, {"group-limit", "4"}}, {1, 1}).group_limited());
}

TEST(MoeParams, WhatCannotBePackedIsRefusedByName) {
    EXPECT_EQ(refusal({{"quantize", "int3"}}, {8, 8}).substr(0, 43), "--quantize 'int3': expected none, mxfp4, mx");
    EXPECT_EQ(refusal({{"element", "fp8"}, {"quantize-combine", "mxfp8"}}, {8, 8}),
              "--quantize-combine fp8:32:e8m0: rows of --element fp8 are sent as they are; --element bf16 with "
              "--quantize fp8:128:fp32 packs rows of the same size");
    EXPECT_EQ(refusal({{"wire", "node_dedup"}, {"quantize", "int4:32:fp32"}}, {16, 8}),
              "--quantize int4:32:fp32: --wire node_dedup over 2 nodes hands rows on, which this pattern does not do "
              "with packed ones; use --wire rank_dedup");
    EXPECT_EQ(refusal({{"pack", "gpu"}}, {2, 2}), "--pack 'gpu': expected none, host, cuda, fused");
    EXPECT_EQ(refusal({{"pack", "host"}, {"hidden", "3"}}, {2, 2}),
              "--pack host: rows of 6 B (--hidden 3 of bf16) are not a multiple of 8 B");
    EXPECT_EQ(refusal({{"pack", "cuda"}, {"wire", "rank_dedup"}}, {2, 2}),
              "--pack cuda: --wire rank_dedup adds rows up or fills empty places, which is no copy of rows; use --wire "
              "expanded");
    EXPECT_EQ(refusal({{"pack", "fused"}, {"quantize", "mxfp8"}}, {2, 2}),
              "--pack fused: the exchange moves rows and does not convert them; with --quantize use --pack host or "
              "cuda, which do both in one step");
    EXPECT_EQ(refusal({{"pack", "host"}, {"quantize", "mxfp8"}, {"hidden", "3"}}, {2, 2}),
              "--pack host: rows of 6 B (--hidden 3 of bf16) are not a multiple of 8 B")
        << "those of combine";
    EXPECT_EQ(
        read({{"pack", "host"}, {"quantize", "mxfp8"}, {"quantize-combine", "int4:32:fp32"}, {"hidden", "3"}}, {2, 2})
            .pack,
        Pack::host);
    EXPECT_TRUE(read({{"quantize", "none"}}, {8, 8}).dispatch_packing == std::nullopt);
}

TEST(RowBytes, AreThePublishedOnes) {
    struct Row {
        Element element;
        std::uint64_t hidden;
        Bytes dispatched, combined;
    };
    for (Row const& row :
         {Row{Element::bf16, 7168, 14336, 14336},
          Row{Element::fp8, 7168, 7392, 14336},      // and 4 * 56 scales: DeepEP's 0.515625 of bf16
          Row{Element::fp8, 2880, 2880 + 92, 5760},  // gpt-oss: 22.5 blocks of 128 need 23 scales
          Row{Element::fp8, 1, 5, 2}, Row{Element::fp32, 100, 400, 400}, Row{Element::fp16, 100, 200, 200}}) {
        EXPECT_EQ(dispatch_row_bytes(row.element, row.hidden), row.dispatched) << row.hidden;
        EXPECT_EQ(combine_row_bytes(row.element, row.hidden), row.combined) << row.hidden;
    }
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

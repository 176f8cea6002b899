// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/kv_transfer/pattern_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::kv_transfer {
namespace {

TEST(KvParams, InstancesThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(kv.refusal({{"prefill-tp", "2"}, {"decode-tp", "4"}}, {8, 8}),
              "--prefill-tp 2 --prefill-pp 1 --decode-tp 4 --decode-pp 1: a prefill and a decode instance are 6 ranks, "
              "which do not divide the 8 ranks");
    EXPECT_EQ(kv.refusal({{"prefill-tp", "4"}}, {4, 4}), "--prefill-tp 4 --prefill-pp 1 --decode-tp 1 --decode-pp 1: a "
                                                         "prefill and a decode instance are 5 ranks, which do not "
                                                         "divide the 4 ranks");
    EXPECT_EQ(kv.refusal({{"prefill-pp", "3"}, {"layers", "2"}}, {8, 8}),
              "--prefill-pp 3: more stages than the 2 layers");
    EXPECT_EQ(kv.refusal({{"decode-tp", "1"}, {"decode-pp", "3"}, {"layers", "2"}}, {4, 4}),
              "--decode-pp 3: more stages than the 2 layers");
    EXPECT_EQ(kv.refusal({{"prefill-tp", "1"}, {"decode-tp", "2"}, {"prefill-per-decode", "3"}}, {8, 8}),
              "--prefill-tp 1 --prefill-pp 1 --decode-tp 2 --decode-pp 1: 3 prefill and a decode instance are 5 ranks, "
              "which do not divide the 8 ranks");
    EXPECT_EQ(kv.refusal({{"prefill-tp", "2"}}, {1, 1}), "--prefill-tp 2 --prefill-pp 1 --decode-tp 1 --decode-pp 1: a "
                                                         "prefill and a decode instance are 3 ranks, which do not "
                                                         "divide the 1 ranks");
    // 2^64 ranks, which 64 bits count as none.
    EXPECT_EQ(kv.refusal({{"prefill-tp", "1073741824"},
                          {"prefill-pp", "16"},
                          {"prefill-per-decode", "1073741824"},
                          {"decode-tp", "4"}},
                         {4, 4}),
              "--prefill-per-decode '1073741824': expected a whole number from 1 to 1048576");
}

TEST(KvParams, WhatIsLeftToTheWorldIsHalfAndHalf) {
    auto const resolved = [](Parameters const& overrides, int ranks) {
        Parameters const found = kv.make("", overrides, {ranks, ranks})->resolved();
        return found.at("prefill-tp") + " " + found.at("decode-tp");
    };
    EXPECT_EQ(resolved({}, 8), "4 4");
    EXPECT_EQ(resolved({}, 7), "3 4");
    EXPECT_EQ(resolved({}, 2), "1 1");
    EXPECT_EQ(resolved({{"prefill-pp", "2"}}, 8), "2 4");
    EXPECT_EQ(resolved({{"decode-tp", "1"}}, 7), "6 1");
    EXPECT_EQ(resolved({{"prefill-tp", "1"}}, 7), "1 6");
    EXPECT_EQ(resolved({{"decode-pp", "2"}}, 8), "4 2");
    EXPECT_EQ(resolved({{"prefill-per-decode", "2"}}, 8), "2 4");
}

TEST(KvParams, OtherWrongValuesAreOneLine) {
    EXPECT_EQ(kv.refusal({{"latent-split", "on"}}, {2, 2}),
              "--latent-split on: --attention gqa has no latent; its heads are always divided");
    EXPECT_EQ(kv.refusal({{"reuse", "1.5"}}, {2, 2}), "--reuse '1.5': expected a number from 0 to 1");
    EXPECT_EQ(kv.refusal({{"reuse", "recorded"}}, {2, 2}),
              "--reuse recorded: the requests of --tokens have no hash_ids; give --tokens file:PATH of a trace that "
              "has them");
    EXPECT_EQ(kv.refusal({{"op-type", "get"}}, {2, 2}), "--op-type 'get': expected send_recv, write, read");
    EXPECT_EQ(
        kv.refusal({{"op-type", "write"}, {"tokens", "1000000"}, {"block-tokens", "1"}, {"requests", "4096"}}, {2, 2}),
        "--op-type write: 4096 requests of 1000001 blocks in 32 layers are above 67108864 one-sided accesses; give "
        "larger --block-tokens, or --cache-layout contiguous");
    EXPECT_EQ(kv.refusal({{"element", "fp4"}}, {2, 2}), "--element 'fp4': expected bf16, fp16, fp8, fp32");
    EXPECT_EQ(kv.refusal({{"tokens", "1073741824"}, {"kv-heads", "4096"}, {"requests", "4096"}}, {2, 2}),
              "--tokens: 4096 requests of 1073741824 tokens, 67108864 B each, are above 72057594037927936 B");
}

TEST(KvParams, OneRankSaysThatNothingIsSent) {
    auto const pattern = kv.make("llama-70b", {}, {1, 1});
    EXPECT_TRUE(build_one(*pattern, 0, {}).steps.empty());
    ASSERT_EQ(pattern->remarks().size(), 1U);
    EXPECT_EQ(pattern->remarks().front(),
              "one rank both prefills and decodes: nothing is sent; a transfer needs two ranks");
}

TEST(KvParams, RemarksSayWhatIsUneven) {
    auto const remarks = kv.make("", {{"prefill-tp", "3"}, {"decode-tp", "16"}}, {19, 19})->remarks();
    ASSERT_EQ(remarks.size(), 2U);
    EXPECT_EQ(remarks[0], "--prefill-tp 3: 2 or 3 of the 8 parts of a layer's cache are on a rank");
    EXPECT_EQ(remarks[1], "--decode-tp 16: more ranks than the 8 that a layer's cache is divided into, so that several "
                          "ranks have the same");
    EXPECT_TRUE(kv.make("", {}, {8, 8})->remarks().empty());
}

}  // namespace
}  // namespace dlmb::kv_transfer

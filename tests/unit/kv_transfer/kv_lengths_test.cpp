// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/lengths.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::kv_transfer {
namespace {

TEST(KvLengths, ANumberIsTheLengthOfAllPrompts) {
    PromptLengths const lengths = PromptLengths::parse("4096");
    EXPECT_EQ(lengths.prompt({7, 3}, 1, 2).tokens, 4096U);
    EXPECT_EQ(lengths.most(), 4096U);
    EXPECT_FALSE(lengths.are_drawn());
}

// Half of 10,000 lengths are at most the median that is given, 99 % at most the 99th percentile: five standard
// deviations of a binomial are 2.5 % and 0.5 %.
TEST(KvLengths, DrawnLengthsHaveTheQuantilesThatAreGiven) {
    PromptLengths const lengths = PromptLengths::parse("quantiles:0=10:50=1020:99=6000:100=9000");
    std::vector<std::uint64_t> drawn;
    for (std::uint32_t draw = 0; draw < 10'000; ++draw) {
        drawn.push_back(lengths.prompt({1, draw}, 0, 1).tokens);
    }
    auto const share_up_to = [&](std::uint64_t tokens) {
        auto const is_short = [&](std::uint64_t each) { return each <= tokens; };
        return static_cast<double>(std::count_if(drawn.begin(), drawn.end(), is_short)) / 10'000;
    };
    EXPECT_NEAR(share_up_to(1020), 0.50, 0.025);
    EXPECT_NEAR(share_up_to(6000), 0.99, 0.005);
    EXPECT_GE(*std::min_element(drawn.begin(), drawn.end()), 10U);
    EXPECT_LE(*std::max_element(drawn.begin(), drawn.end()), 9000U);
    EXPECT_EQ(lengths.prompt({1, 5}, 0, 1).tokens, drawn[5]);  // a draw is what it is
    EXPECT_NE(lengths.prompt({2, 5}, 0, 1).tokens, drawn[5]);
    EXPECT_NE(lengths.prompt({1, 5}, 1, 2).tokens, drawn[5]);
}

TEST(KvLengths, BelowTheFirstAndAboveTheLastQuantileTheirLengthsHold) {
    PromptLengths const lengths = PromptLengths::parse("quantiles:50=100");
    for (std::uint32_t draw = 0; draw < 100; ++draw) {
        EXPECT_EQ(lengths.prompt({1, draw}, 0, 1).tokens, 100U);
    }
}

TEST(KvLengths, RecordedOnesComeInTurn) {
    PromptLengths const lengths = PromptLengths::of_requests(
        "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 6, \"hash_ids\": [0, 1]}\n"
        "{\"input_length\": 20}\r\n\n{\"input_length\": 30}\n",
        "trace");
    EXPECT_EQ(lengths.recorded(), 3U);
    EXPECT_TRUE(lengths.are_drawn());
    EXPECT_EQ(lengths.most(), 30U);
    EXPECT_EQ(lengths.prompt({1, 0}, 0, 1).tokens, 10U);
    EXPECT_EQ(lengths.prompt({1, 2}, 0, 1).tokens, 30U);
    EXPECT_EQ(lengths.prompt({1, 3}, 0, 1).tokens, 10U);
    EXPECT_EQ(lengths.prompt({2, 0}, 0, 1).tokens, 20U);
    EXPECT_EQ(lengths.prompt({1, 1}, 1, 2).tokens, 10U);  // the fourth
}

// The second one begins with both blocks of the first, the third with one of them; 600 tokens are less than two blocks.
TEST(KvLengths, RecordedBlocksThatCameBeforeAreCached) {
    PromptLengths const lengths = PromptLengths::of_requests("{\"input_length\": 1000, \"hash_ids\": [5, 6]}\n"
                                                             "{\"input_length\": 2000, \"hash_ids\": [5, 6, 7, 8]}\n"
                                                             "{\"input_length\": 2000, \"hash_ids\": [5, 9, 7, 10]}\n"
                                                             "{\"input_length\": 600, \"hash_ids\": [5, 6]}\n"
                                                             "{\"input_length\": 600}\n",
                                                             "trace");
    EXPECT_TRUE(lengths.has_ids());
    std::vector<std::uint64_t> cached;
    for (std::uint32_t draw = 0; draw < 5; ++draw) {
        cached.push_back(lengths.prompt({1, draw}, 0, 1).cached_tokens);
    }
    EXPECT_EQ(cached, (std::vector<std::uint64_t>{0, 1024, 512, 600, 0}));
    EXPECT_FALSE(PromptLengths::of_requests("{\"input_length\": 5}", "trace").has_ids());
    for (char const* ids : {"7", "[-1]", "[0.5]", "[\"a\"]"}) {
        std::string const line = std::string("{\"input_length\": 5, \"hash_ids\": ") + ids + "}";
        EXPECT_EQ(usage_error_of([&] { (void)PromptLengths::of_requests(line, "trace"); }),
                  "trace:1: expected \"hash_ids\" to be a list of whole numbers");
    }
}

TEST(KvLengths, WhatIsNoLengthIsNamed) {
    EXPECT_EQ(usage_error_of([] { (void)PromptLengths::parse("many"); }),
              "--tokens 'many': expected a whole number from 0 to 1073741824, quantiles:PERCENT=TOKENS:... or "
              "file:PATH");
    for (char const* part : {"50", "50=", "=5", "50=x", "101=5", "-1=5", "50=5:40=6", "50=5:60=4", "50=5:"}) {
        EXPECT_NE(usage_error_of([&] {
                      (void)PromptLengths::parse(std::string("quantiles:") + part);
                  }).find("is not PERCENT=TOKENS behind the part before it"),
                  std::string::npos)
            << part;
    }
    for (char const* line : {"{", "[]", "7", "{}", "{\"input_length\": -1}", "{\"input_length\": 1073741825}"}) {
        EXPECT_EQ(usage_error_of([&] { (void)PromptLengths::of_requests(line, "trace"); }),
                  "trace:1: expected {\"input_length\": TOKENS} with up to 1073741824 tokens")
            << line;
    }
    EXPECT_EQ(usage_error_of([] { (void)PromptLengths::of_requests("\n", "trace"); }), "trace: no request in it");
    EXPECT_NE(usage_error_of([] { (void)PromptLengths::parse("file:/no/such"); }).find("/no/such"), std::string::npos);
}

}  // namespace
}  // namespace dlmb::kv_transfer

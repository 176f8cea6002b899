// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/sweep.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using Sizes = std::vector<Bytes>;

Sizes expand(std::string_view text) {
    return expand_sizes(text, "-m");
}

std::string range_refusal(std::string_view text) {
    return usage_error_of([&] { (void)expand(text); });
}

TEST(SizeRange, DoublesUpToAndIncludingTheLast) {
    EXPECT_EQ(expand("8:64"), (Sizes{8, 16, 32, 64}));
    EXPECT_EQ(expand("8:100"), (Sizes{8, 16, 32, 64, 100}));
    EXPECT_EQ(expand("3:10"), (Sizes{3, 6, 10}));
    EXPECT_EQ(expand("512K:2M"), (Sizes{524288, 1048576, 2097152}));
}

TEST(SizeRange, OfOneNumberStartsAtEight) {
    EXPECT_EQ(expand("32"), (Sizes{8, 16, 32}));
    EXPECT_EQ(expand("8"), (Sizes{8}));
    EXPECT_EQ(expand("4"), (Sizes{4}));
    EXPECT_EQ(expand("0"), (Sizes{0}));
}

TEST(SizeRange, OfEqualEndsIsOneSize) {
    EXPECT_EQ(expand("1K:1024"), (Sizes{1024}));
    EXPECT_EQ(expand("0:0"), (Sizes{0}));
}

TEST(SizeRange, FromZeroGoesOnWithEight) {
    EXPECT_EQ(expand("0:32"), (Sizes{0, 8, 16, 32}));
    EXPECT_EQ(expand("0:4"), (Sizes{0, 4}));
    EXPECT_EQ(expand("0:8"), (Sizes{0, 8}));
}

TEST(SizeRange, EndsBeforeItWouldOverflow) {
    Sizes const sizes = expand("9223372036854775808:18446744073709551615");  // 2^63 and 2^64 - 1
    EXPECT_EQ(sizes, (Sizes{Bytes{1} << 63, ~Bytes{0}}));
    EXPECT_EQ(expand("1:18446744073709551615").size(), 65U);
}

TEST(SizeRange, RefusalsNameTheOptionAndSayWhatToWrite) {
    EXPECT_EQ(
        range_refusal("1MB"),
        "-m '1MB': expected a whole number of bytes, with K, M or G (powers of 1024) where wanted, for example 64K, "
        "64KiB or 0.5M");
    EXPECT_EQ(range_refusal("64:8"), "-m '64:8': the first size is above the last; write MIN:MAX");
    EXPECT_EQ(range_refusal("1:2:3"), "-m '1:2:3': expected [MIN:]MAX, for example 8:1M (open ends: --cli osu)");
    EXPECT_EQ(range_refusal(":8"), "-m ':8': expected [MIN:]MAX, for example 8:1M (open ends: --cli osu)");
    EXPECT_EQ(range_refusal("8:"), "-m '8:': expected [MIN:]MAX, for example 8:1M (open ends: --cli osu)");
    EXPECT_NE(range_refusal(""), "accepted");
}

TEST(ExactSize, UsesTheLargestUnitThatDivides) {
    EXPECT_EQ(exact_size(0), "0 B");
    EXPECT_EQ(exact_size(1000), "1000 B");
    EXPECT_EQ(exact_size(1536), "1536 B");
    EXPECT_EQ(exact_size(65536), "64 K");
    EXPECT_EQ(exact_size(Bytes{3} << 20), "3 M");
    EXPECT_EQ(exact_size(Bytes{5} << 40), "5120 G");
}

}  // namespace
}  // namespace dlmb::run

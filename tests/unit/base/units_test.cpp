// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/digits.hpp"
#include "common/base/units.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal_of(std::string_view text) {
    return usage_error_of([&] { (void)parse_bytes(text, "--message-size"); });
}

// nccl-tests takes small letters and fractions, and files of others have KiB.
TEST(ParseBytes, ReadsNumbersAndPowersOf1024AsOtherProgramsWriteThem) {
    constexpr Bytes g = Bytes{1} << 30;
    for (auto const& [text, bytes] :
         std::vector<std::pair<char const*, Bytes>>{{"0", 0},
                                                    {"4096", 4096},
                                                    {"64K", 65536},
                                                    {"1M", 1048576},
                                                    {"2G", 2 * g},
                                                    {"24G", 24 * g},
                                                    {"1k", 1024},
                                                    {"1m", 1048576},
                                                    {"2g", 2 * g},
                                                    {"0.5M", 524288},
                                                    {"1.5k", 1536},
                                                    {"1.0", 1},
                                                    {"64KiB", 65536},
                                                    {"64kiB", 65536},
                                                    {"0.25MiB", 262144},
                                                    {"64B", 64},
                                                    {"17179869183.5G", 17179869183 * g + g / 2},
                                                    {"17179869183G", 17179869183 * g},
                                                    {"18446744073709551615", ~Bytes{0}}}) {
        EXPECT_EQ(parse_bytes(text, "x"), bytes) << text;
    }
    EXPECT_THAT(refusal_of("17179869184G"), HasSubstr("above 2^64")) << "2^34 G";
    EXPECT_NE(refusal_of("18446744073709551616"), "accepted");
}

TEST(ParseBytes, RefusesOtherSuffixesWithAHint) {
    for (char const* text :
         {"1MB", "1kB", "1Ki", "1KIB", "1T", "4X", "1 K", "0x10", "1K1", "1KK", "1BB", "1iB", "1b"}) {
        EXPECT_THAT(refusal_of(text),
                    AllOf(StartsWith("--message-size '" + std::string(text) + "'"), HasSubstr("for example 64K")));
    }
}

TEST(ParseBytes, RefusesWhatIsNoNumber) {
    for (char const* text : {"", "K", "-1", "+1", " 1", "many", ".", ".5K", "1.", "1.K", "0.5", "0.3K", "1.5B",
                             "1.2.3K", "0.0000000000001G"}) {
        EXPECT_THAT(refusal_of(text), HasSubstr("expected a whole number of bytes")) << text;
    }
}

TEST(ParseWhole, TakesOnlyFiniteNumbers) {
    EXPECT_EQ(parse_whole<double>("1.5e3"), 1500);
    for (char const* text : {"nan", "-nan", "NAN", "inf", "-Infinity", "1e999", "1.5x", ""}) {
        EXPECT_FALSE(parse_whole<double>(text)) << text;
    }
}

TEST(HumanBytes, KeepsSmallNumbersExactAndRoundsLargeOnes) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(65536), "64 K");
    EXPECT_EQ(human_bytes(Bytes{3} << 29), "1.5 G");
    EXPECT_EQ(human_bytes(Bytes{5} << 40), "5 T");
}

TEST(HumanMicroseconds, HasThreeDecimals) {
    EXPECT_EQ(human_us(0), "0.000");
    EXPECT_EQ(human_us(24), "0.024");
    EXPECT_EQ(human_us(1234567), "1235");
}

TEST(Digits, AreFourOfWhichThreeBehindThePoint) {
    struct Case {
        double value;
        char const* text;
    };
    for (auto const& [value, text] :
         {Case{0, "0.000"}, Case{0.0004, "0.000"}, Case{0.1234, "0.123"}, Case{1.2344, "1.234"}, Case{9.9996, "10.00"},
          Case{12.345678, "12.35"}, Case{123.456, "123.5"}, Case{999.96, "1000"}, Case{1234.567, "1235"},
          Case{12346, "12350"}, Case{9999999, "10000000"}, Case{-12.345678, "-12.35"}}) {
        EXPECT_EQ(four_digits(value), text);
    }
}

TEST(Digits, DurationsAndSharesHaveTheirUnit) {
    EXPECT_EQ(human_duration(850), "850 ns");
    EXPECT_EQ(human_duration(4'000), "4 us");
    EXPECT_EQ(human_duration(12'345'678), "12.3 ms");
    EXPECT_EQ(human_duration(1.5e9), "1.5 s");
    EXPECT_EQ(human_duration(999.7e3), "1 ms");
    EXPECT_EQ(human_duration(4321e9), "4321 s");
    EXPECT_EQ(human_percent(0.082), "8 %");
    EXPECT_EQ(human_percent(0.0042), "0.4 %");
    EXPECT_EQ(human_percent(37699), "over 1000 %");
    EXPECT_EQ(counted(1, "cell"), "1 cell");
    EXPECT_EQ(counted(0, "cell"), "0 cells");
}

}  // namespace
}  // namespace dlmb

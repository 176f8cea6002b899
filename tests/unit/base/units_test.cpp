// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/digits.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

std::string refusal_of(std::string_view text) {
    try {
        Bytes const bytes = parse_bytes(text, "--message-size");
        return "read as " + std::to_string(bytes);
    } catch (UsageError const& error) {
        return error.what();
    }
}

TEST(ParseBytes, ReadsPlainNumbersAndPowersOf1024) {
    EXPECT_EQ(parse_bytes("0", "x"), 0U);
    EXPECT_EQ(parse_bytes("4096", "x"), 4096U);
    EXPECT_EQ(parse_bytes("64K", "x"), 65536U);
    EXPECT_EQ(parse_bytes("1M", "x"), 1048576U);
    EXPECT_EQ(parse_bytes("2G", "x"), 2147483648U);
    EXPECT_EQ(parse_bytes("24G", "x"), 25769803776U);
}

// nccl-tests takes small letters and fractions, and files of others have KiB.
TEST(ParseBytes, ReadsWhatOtherProgramsWriteAsSizes) {
    EXPECT_EQ(parse_bytes("1k", "x"), 1024U);
    EXPECT_EQ(parse_bytes("1m", "x"), 1048576U);
    EXPECT_EQ(parse_bytes("2g", "x"), 2147483648U);
    EXPECT_EQ(parse_bytes("0.5M", "x"), 524288U);
    EXPECT_EQ(parse_bytes("1.5k", "x"), 1536U);
    EXPECT_EQ(parse_bytes("1.0", "x"), 1U);
    EXPECT_EQ(parse_bytes("64KiB", "x"), 65536U);
    EXPECT_EQ(parse_bytes("64kiB", "x"), 65536U);
    EXPECT_EQ(parse_bytes("0.25MiB", "x"), 262144U);
    EXPECT_EQ(parse_bytes("64B", "x"), 64U);
    EXPECT_EQ(parse_bytes("17179869183.5G", "x"), 17179869183U * (Bytes{1} << 30) + (Bytes{1} << 29));
}

TEST(ParseBytes, ReadsUpToTheLargestNumberAndNoFurther) {
    EXPECT_EQ(parse_bytes("18446744073709551615", "x"), 18446744073709551615U);
    EXPECT_EQ(parse_bytes("17179869183G", "x"), 17179869183U * (Bytes{1} << 30));
    // 2^34 G = 2^64.
    EXPECT_NE(refusal_of("17179869184G").find("above 2^64"), std::string::npos) << refusal_of("17179869184G");
    EXPECT_EQ(refusal_of("18446744073709551616").find("read as"), std::string::npos);
}

TEST(ParseBytes, RefusesOtherSuffixesWithAHint) {
    for (char const* text :
         {"1MB", "1kB", "1Ki", "1KIB", "1T", "4X", "1 K", "0x10", "1K1", "1KK", "1BB", "1iB", "1b"}) {
        std::string const message = refusal_of(text);
        EXPECT_EQ(message.rfind("--message-size '" + std::string(text) + "'", 0), 0U) << message;
        EXPECT_NE(message.find("for example 64K"), std::string::npos) << message;
    }
}

TEST(ParseBytes, RefusesWhatIsNoNumber) {
    for (char const* text : {"", "K", "-1", "+1", " 1", "many", ".", ".5K", "1.", "1.K", "0.5", "0.3K", "1.5B",
                             "1.2.3K", "0.0000000000001G"}) {
        EXPECT_NE(refusal_of(text).find("expected a whole number of bytes"), std::string::npos) << refusal_of(text);
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
    EXPECT_EQ(human_percent(0.082), "8 %");
    EXPECT_EQ(human_percent(0.0042), "0.4 %");
    EXPECT_EQ(human_percent(37699), "over 1000 %");
    EXPECT_EQ(counted(1, "cell"), "1 cell");
    EXPECT_EQ(counted(0, "cell"), "0 cells");
}

}  // namespace
}  // namespace dlmb

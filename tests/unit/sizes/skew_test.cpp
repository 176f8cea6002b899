// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/skew.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Family = Skew::Family;

std::string skew_refusal(std::string_view text) {
    return usage_error_of([&] { (void)parse_skew(text); });
}

TEST(Skew, ReadsEveryFamily) {
    EXPECT_EQ(parse_skew("balanced"), (Skew{Family::balanced, 0, "", 1}));
    EXPECT_EQ(parse_skew("lognormal:0.24"), (Skew{Family::lognormal, 0.24, "", 1}));
    EXPECT_EQ(parse_skew("zipf:1"), (Skew{Family::zipf, 1, "", 1}));
    EXPECT_EQ(parse_skew("hot_rank:4"), (Skew{Family::hot_rank, 4, "", 1}));
    EXPECT_EQ(parse_skew("power_law:1.01"), (Skew{Family::power_law, 1.01, "", 1}));
    EXPECT_EQ(parse_skew("file:a:b+c.txt"), (Skew{Family::file, 0, "a:b+c.txt", 1}));
    EXPECT_EQ(parse_skew("intra_host:8"), (Skew{Family::uniform, 0, "", 8}));
    EXPECT_EQ(parse_skew("zipf:0.5+intra_host:8"), (Skew{Family::zipf, 0.5, "", 8}));
}

TEST(Skew, NamesOptionValueAndWhatIsExpected) {
    EXPECT_EQ(skew_refusal("lognormal:1.5"),
              "--skew 'lognormal:1.5': expected lognormal:X with X its Gini from 0 to 0.95");
    EXPECT_EQ(skew_refusal("zipf:fast"), "--skew 'zipf:fast': expected zipf:X with X the exponent from 0 to 8");
    EXPECT_EQ(skew_refusal("hot_rank:"),
              "--skew 'hot_rank:': expected hot_rank:X with X the factor of the hot rank from 1 to 1000000");
    EXPECT_EQ(skew_refusal("file:"), "--skew 'file:': expected file:PATH with the path of a counts file");
    EXPECT_EQ(skew_refusal("gauss"),
              "--skew 'gauss': expected balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, "
              "intra_host:R or file:PATH, optionally followed by +intra_host:R");
}

TEST(Skew, RefusesWhatCannotBeMeant) {
    for (char const* text : {"", "balanced:1", "lognormal", "lognormal:0.2x", "lognormal:nan", "zipf:-1",
                             "hot_rank:0.5", "intra_host:0", "zipf:1+intra_host:", "balanced+intra_host:2"}) {
        EXPECT_NE(skew_refusal(text), "accepted") << text;
    }
}

}  // namespace
}  // namespace dlmb

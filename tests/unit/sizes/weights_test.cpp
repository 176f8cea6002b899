// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace dlmb {
namespace {

Bins eight_on_four() {
    return {{0, 0, 1, 1, 2, 2, 3, 3}, 16, 2, 4};
}

TEST(Weights, PlacesOfPopularBinsFollowSeedAndLayerOnly) {
    Weights const weights(parse_skew("zipf:1"), eight_on_four());
    auto const first = weights.of(0, 7, 0);
    EXPECT_EQ(weights.of(3, 7, 0), first);
    EXPECT_NE(weights.of(0, 8, 0), first);
    EXPECT_NE(weights.of(0, 7, 1), first);
    auto sorted = first;
    auto other = weights.of(0, 7, 1);
    std::sort(sorted.begin(), sorted.end());
    std::sort(other.begin(), other.end());
    EXPECT_EQ(sorted, other);  // the same weights at other places
}

TEST(Weights, HotRankIsTheFirstOwner) {
    auto const weights = Weights(parse_skew("hot_rank:4"), eight_on_four()).of(0, 1, 0);
    EXPECT_EQ(weights, (std::vector<double>{1, 1, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25}));
}

TEST(Weights, ABinWithoutLoadInAFileKeepsATinyWeight) {
    std::string const path = testing::TempDir() + "dlmb_weights_test.txt";
    std::ofstream(path) << "0 0 0 0 0 0 2 1\n";
    auto const weights = Weights(parse_skew("file:" + path), eight_on_four()).of(2, 1, 0);
    EXPECT_EQ(weights, (std::vector<double>{0x1p-40, 0x1p-40, 0x1p-40, 0x1p-40, 0x1p-40, 0x1p-40, 1, 0.5}));
}

TEST(Weights, PowerLawPutsTheHeaviestOwnerFirst) {
    auto const weights = Weights(parse_skew("power_law:1.01"), eight_on_four()).of(0, 1, 0);
    double const first = weights[0] + weights[1];
    for (std::size_t owner = 1; owner < 4; ++owner) {
        EXPECT_GE(first, weights[2 * owner] + weights[2 * owner + 1]);
    }
}

}  // namespace
}  // namespace dlmb

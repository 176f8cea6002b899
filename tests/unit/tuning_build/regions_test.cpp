// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/build/build_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

MeasuredPoint point(Bytes bytes, char const* method, Outcome outcome = Outcome::chosen) {
    Decision decision;
    decision.outcome = *method == '\0' ? Outcome::no_gain : outcome;
    if (*method != '\0') {
        decision.winner = Choice{"mpi", method, std::nullopt, {}};
    }
    return {bytes, decision};
}

bool chooses(std::vector<ChoiceRegion> const& regions) {
    return std::any_of(regions.begin(), regions.end(),
                       [](ChoiceRegion const& region) { return region.choice.has_value(); });
}

TEST(RegionsOf, EqualNeighboursJoinAndOthersMeetInTheGeometricMiddle) {
    std::vector<MeasuredPoint> const points{point(512, "a"), point(1024, "a"), point(2048, "b"), point(4096, "b")};
    auto const regions = regions_of(points, {}, false);
    ASSERT_EQ(regions.size(), 2U);
    EXPECT_EQ(regions[0].bytes, (ByteInterval{512, 1448}));
    EXPECT_EQ(regions[1].bytes, (ByteInterval{1449, 4096}));
}

TEST(RegionsOf, ChoicesAcrossAWideGapSayNothingOfIt) {
    for (char const* const right : {"a", "b"}) {
        std::vector<MeasuredPoint> const points{point(4096, "a"), point(8192, "a"), point(16385, right),
                                                point(32768, right)};
        auto const regions = regions_of(points, {}, false);
        ASSERT_EQ(regions.size(), 2U);
        EXPECT_EQ(regions[0].bytes, (ByteInterval{4096, 8192}));
        EXPECT_EQ(regions[1].bytes, (ByteInterval{16385, 32768}));
        EXPECT_EQ(regions[1].points.size(), 2U) << "its evidence is its own";
    }
}

TEST(RegionsOf, TheDefaultHoldsAlikeOnBothSidesOfAWideGap) {
    std::vector<MeasuredPoint> const points{point(4096, ""), point(32768, "")};
    EXPECT_EQ(regions_of(points, {}, false).size(), 1U);
}

TEST(RegionsOf, TheSmallestSizesAreNeighbours) {
    std::vector<MeasuredPoint> const points{point(0, "a"), point(1, "a"), point(2, "a")};
    EXPECT_EQ(regions_of(points, {}, false).size(), 1U);
}

TEST(RegionsOf, AGapBesideTheDefaultIsTheDefaults) {
    std::vector<MeasuredPoint> const points{point(64, ""), point(512, "a"), point(1024, "a"), point(4096, "")};
    auto const regions = regions_of(points, {}, false);
    ASSERT_EQ(regions.size(), 3U);
    EXPECT_EQ(regions[0].bytes, (ByteInterval{64, 511}));
    EXPECT_EQ(regions[1].bytes, (ByteInterval{512, 1024}));
    EXPECT_EQ(regions[2].bytes, (ByteInterval{1025, 4096}));
    EXPECT_FALSE(regions[2].choice);
}

TEST(RegionsOf, AnUnconfirmedChoiceNeedsANeighbour) {
    std::vector<MeasuredPoint> const points{point(64, ""), point(256, "a", Outcome::unconfirmed), point(1024, "")};
    EXPECT_FALSE(chooses(regions_of(points, {}, true)));
    std::vector<MeasuredPoint> const two{point(64, ""), point(256, "a", Outcome::unconfirmed),
                                         point(512, "a", Outcome::unconfirmed)};
    EXPECT_TRUE(chooses(regions_of(two, {}, true)));
    EXPECT_FALSE(chooses(regions_of(two, {}, false)));
    std::vector<MeasuredPoint> const far{point(64, ""), point(256, "a", Outcome::unconfirmed),
                                         point(1024, "a", Outcome::unconfirmed)};
    EXPECT_FALSE(chooses(regions_of(far, {}, true))) << "a neighbour is near";
}

TEST(RegionsOf, WhatIsOpenStandsApartFromTheDefaultThatIsSettled) {
    std::vector<MeasuredPoint> const points{point(64, ""),
                                            point(128, "a", Outcome::tie),
                                            point(256, "a", Outcome::undecided),
                                            point(512, "a", Outcome::undecided),
                                            point(1024, "a", Outcome::unconfirmed),
                                            point(2048, "b", Outcome::unconfirmed)};
    auto const regions = regions_of(points, {}, false);
    ASSERT_EQ(regions.size(), 4U);
    EXPECT_EQ(regions[0].bytes, (ByteInterval{64, 255}));
    EXPECT_FALSE(regions[0].candidate) << "a tie is settled";
    EXPECT_EQ(regions[1].bytes, (ByteInterval{256, 1023}));
    EXPECT_EQ(regions[1].candidate->method, "a");
    EXPECT_EQ(regions[2].candidate->method, "a");
    EXPECT_EQ(regions[3].candidate->method, "b");
    for (ChoiceRegion const& region : regions) {
        EXPECT_FALSE(region.choice);
    }
}

TEST(GeometricMiddle, IsExactUpToTheLargestSizes) {
    EXPECT_EQ(geometric_middle(512, 1024), 724U);
    EXPECT_EQ(geometric_middle(8, 8), 8U);
    EXPECT_EQ(geometric_middle(0, 64), 0U);
    EXPECT_EQ(geometric_middle(~Bytes{0} - 1, ~Bytes{0}), ~Bytes{0} - 1);
}

}  // namespace
}  // namespace dlmb::tuning

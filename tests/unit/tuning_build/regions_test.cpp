// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/regions.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

Point point(Bytes bytes, char const* method, Standing standing = Standing::chosen) {
    Decision decision;
    decision.standing = *method == '\0' ? Standing::no_gain : standing;
    if (*method != '\0') {
        decision.winner = Choice{"mpi", method, std::nullopt, {}};
    }
    return {bytes, decision};
}

TEST(RegionsOf, EqualNeighboursJoinAndOthersMeetInTheGeometricMiddle) {
    std::vector<Point> const points{point(64, "a"), point(256, "a"), point(1024, "b"), point(4096, "b")};
    auto const regions = regions_of(points, {}, false);
    ASSERT_EQ(regions.size(), 2U);
    EXPECT_EQ(regions[0].bytes, (ByteInterval{64, 512}));
    EXPECT_EQ(regions[1].bytes, (ByteInterval{513, 4096}));
}

TEST(RegionsOf, AGapBesideTheDefaultIsTheDefaults) {
    std::vector<Point> const points{point(64, ""), point(256, "a"), point(1024, "a"), point(4096, "")};
    auto const regions = regions_of(points, {}, false);
    ASSERT_EQ(regions.size(), 3U);
    EXPECT_EQ(regions[0].bytes, (ByteInterval{64, 255}));
    EXPECT_EQ(regions[1].bytes, (ByteInterval{256, 1024}));
    EXPECT_EQ(regions[2].bytes, (ByteInterval{1025, 4096}));
    EXPECT_FALSE(regions[2].choice);
}

TEST(RegionsOf, AnUnconfirmedChoiceNeedsANeighbour) {
    std::vector<Point> const points{point(64, ""), point(256, "a", Standing::unconfirmed), point(1024, "")};
    EXPECT_EQ(regions_of(points, {}, true).size(), 1U);
    std::vector<Point> const two{point(64, ""), point(256, "a", Standing::unconfirmed),
                                 point(1024, "a", Standing::unconfirmed)};
    EXPECT_EQ(regions_of(two, {}, true).size(), 2U);
    EXPECT_EQ(regions_of(two, {}, false).size(), 1U);
}

TEST(GeometricMiddle, IsExactUpToTheLargestSizes) {
    EXPECT_EQ(geometric_middle(512, 1024), 724U);
    EXPECT_EQ(geometric_middle(8, 8), 8U);
    EXPECT_EQ(geometric_middle(0, 64), 0U);
    EXPECT_EQ(geometric_middle(~Bytes{0} - 1, ~Bytes{0}), ~Bytes{0} - 1);
}

}  // namespace
}  // namespace dlmb::tuning

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/byte_matrix.hpp"
#include "tests/unit/collective/collective_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

namespace dlmb::collective {
namespace {

using Parts = std::vector<std::uint64_t>;

ByteMatrix matrix(char const* skew, WorldShape const& world, char const* size = "1024") {
    Parameters const overrides{{"operation", "alltoallv"}, {"message-size", size}, {"skew", skew}};
    return {read_params(resolve(type(), "", overrides), world), world};
}

TEST(Apportion, GivesWholePartsThatAddUp) {
    EXPECT_EQ(apportion(8, std::array{1.0, 0.5, 0.5}), (Parts{4, 2, 2}));
    EXPECT_EQ(apportion(10, std::array{1.0, 1.0, 1.0}), (Parts{4, 3, 3})) << "equal remainders: the first";
    EXPECT_EQ(apportion(5, std::array{1.0, 0.25}), (Parts{4, 1}));
    EXPECT_EQ(apportion(2, std::array{1.0, 0.5, 1.0}), (Parts{1, 0, 1})) << "0.8, 0.4, 0.8";
    EXPECT_EQ(apportion(0, std::array{1.0, 1.0}), (Parts{0, 0}));
}

TEST(Apportion, SurvivesProductsAbove64Bits) {
    std::uint64_t const total = std::uint64_t{1} << 62;
    EXPECT_EQ(apportion(total, std::array{0x1p20, 0x1p20}), (Parts{total / 2, total / 2}));
    EXPECT_EQ(apportion(total, std::array{1.0, 0x1p-40}).at(1), std::uint64_t{1} << 22);  // 2^62 / (2^40 + 1), rounded
}

TEST(ByteMatrix, EveryRankSendsRanksTimesTheMessageSizeInWholeElements) {
    for (char const* skew : {"balanced", "lognormal:0.5", "zipf:1.2", "hot_rank:9", "power_law:1.01", "intra_host:3",
                             "zipf:1+intra_host:2"}) {
        for (int const ranks : {1, 2, 3, 7, 8}) {
            ByteMatrix const bytes = matrix(skew, {ranks, 2});
            for (Rank source = 0; source < ranks; ++source) {
                Bytes sum = 0;
                for (Bytes const part : bytes.row(source, 11)) {
                    EXPECT_EQ(part % 4, 0U);
                    sum += part;
                }
                EXPECT_EQ(sum, 1024U * static_cast<Bytes>(ranks)) << skew << ", " << ranks << " ranks";
            }
        }
    }
}

// alltoallv.cu of nccl-tests: 4 ranks, 4 x 1024 B in all, shares 0, 1/6, 2/6 and 3/6 of them, down to 16 B: 682.67,
// 1365.33 and 2048. Half of it even: (1024 + 0) / 2 ...
TEST(ByteMatrix, ByDistanceIsTheTrafficOfNcclTests) {
    EXPECT_EQ(matrix("distance:1", {4, 4}).row(0, 1), (Parts{0, 672, 1360, 2048}));
    EXPECT_EQ(matrix("distance:1", {4, 4}).row(2, 9), (Parts{1360, 2048, 0, 672}));
    EXPECT_EQ(matrix("distance:0", {4, 4}).row(1, 1), (Parts{1024, 1024, 1024, 1024}));
    EXPECT_EQ(matrix("distance:0.5", {4, 4}).row(0, 1), (Parts{512, 848, 1184, 1536}));
    EXPECT_EQ(matrix("distance:1", {1, 1}, "1000").row(0, 1), (Parts{992})) << "alone, a rank keeps all";
    EXPECT_EQ(matrix("distance:1", {2, 2}, "16").row(1, 1), (Parts{32, 0}));
}

// MPI_Dims_create of Open MPI and MPICH.
TEST(Grid, SidesAreAsEqualAsPrimeFactorsAllow) {
    EXPECT_EQ(grid_of(12, 2), (std::vector{4, 3}));
    EXPECT_EQ(grid_of(8, 3), (std::vector{2, 2, 2}));
    EXPECT_EQ(grid_of(7, 2), (std::vector{7, 1}));
    EXPECT_EQ(grid_of(16, 2), (std::vector{4, 4}));
    EXPECT_EQ(grid_of(1, 1), std::vector{1});
}

// osu_util_mpi.c, omb_neighborhood_create: (2 R + 1)^D - 1 neighbours on a periodic grid, and none twice.
TEST(ByteMatrix, NeighboursGetAMessageEach) {
    EXPECT_EQ(matrix("neighbors:1:1", {4, 4}, "8").row(0, 1), (Parts{0, 8, 0, 8}));
    ByteMatrix const grid = matrix("neighbors:2:1", {12, 12}, "8");  // 4 rows of 3
    EXPECT_EQ(grid.row(4, 1), (Parts{8, 8, 8, 8, 0, 8, 8, 8, 8, 0, 0, 0})) << "4 is in the middle of 0 to 8";
    EXPECT_EQ(grid.row(0, 1), (Parts{0, 8, 8, 8, 8, 8, 0, 0, 0, 8, 8, 8})) << "0 is at a corner";
    EXPECT_EQ(grid.column(0, 1), grid.row(0, 1)) << "neighbourhood is mutual";
}

TEST(ByteMatrix, ColumnsAreTheTransposeOfRows) {
    for (char const* skew : {"zipf:1", "zipf:1+intra_host:4", "distance:1", "distance:0.3"}) {
        ByteMatrix const bytes = matrix(skew, {6, 2});
        for (Rank me = 0; me < 6; ++me) {
            std::vector<Bytes> const column = bytes.column(me, 3);
            for (Rank source = 0; source < 6; ++source) {
                EXPECT_EQ(column.at(static_cast<std::size_t>(source)),
                          bytes.row(source, 3).at(static_cast<std::size_t>(me)))
                    << skew;
            }
        }
    }
}

TEST(ByteMatrix, BalancedIsExactlyEqual) {
    EXPECT_EQ(matrix("balanced", {7, 7}).row(2, 5), std::vector<Bytes>(7, 1024));
}

// Weights 4, 1, 1, 1, 1 over 5 x 1024 B: 2560, 640 ...
TEST(ByteMatrix, AHotRankGetsItsFactor) {
    EXPECT_EQ(matrix("hot_rank:4", {5, 5}).row(3, 1), (std::vector<Bytes>{2560, 640, 640, 640, 640}));
}

// Own node 3 parts, the other node 1 part: of 4 x 1024 B 1536 and 512.
TEST(ByteMatrix, IntraHostFavoursTheOwnNode) {
    ByteMatrix const bytes = matrix("intra_host:3", {4, 2});
    EXPECT_EQ(bytes.row(1, 1), (std::vector<Bytes>{1536, 1536, 512, 512}));
    EXPECT_EQ(bytes.row(2, 1), (std::vector<Bytes>{512, 512, 1536, 1536}));
}

TEST(ByteMatrix, ThePopularRankDependsOnTheSeed) {
    ByteMatrix const bytes = matrix("zipf:1", {16, 16});
    EXPECT_EQ(bytes.row(0, 1), bytes.row(9, 1));
    EXPECT_NE(bytes.row(0, 1), bytes.row(0, 2));
}

TEST(ByteMatrix, AFileGivesEverySourceItsLine) {
    std::string const path = testing::TempDir() + "collective_counts.txt";
    std::ofstream(path) << "3 1\n1 0\n";
    ByteMatrix const bytes = matrix(("file:" + path).c_str(), {2, 2});
    EXPECT_EQ(bytes.row(0, 1), (std::vector<Bytes>{1536, 512}));
    EXPECT_EQ(bytes.row(1, 1), (std::vector<Bytes>{2048, 0}));
    EXPECT_EQ(bytes.column(1, 1), (std::vector<Bytes>{512, 0}));
}

TEST(CollectiveStatistics, AreThoseOfTheReceivedBytes) {
    auto const pattern =
        make_collective({{"operation", "alltoallv"}, {"message-size", "1024"}, {"skew", "hot_rank:4"}}, {5, 5});
    constexpr std::uint64_t ranks = 5;
    std::vector<std::uint64_t> const summed{ranks * 2560, ranks * 640, ranks * 640, ranks * 640, ranks * 640};
    ASSERT_EQ(pattern->setup_of(0, {}).statistics, (std::vector<std::uint64_t>{2560, 640, 640, 640, 640}));
    auto const statistics = pattern->statistics(summed);
    ASSERT_EQ(statistics.size(), 2U);
    EXPECT_EQ(statistics[1].name, "max_mean_rank");
    EXPECT_DOUBLE_EQ(statistics[1].value, 2.5);
    EXPECT_TRUE(make_collective({}, {5, 5})->statistics({}).empty());
}

}  // namespace
}  // namespace dlmb::collective

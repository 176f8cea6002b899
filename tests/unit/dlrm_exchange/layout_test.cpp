// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace dlmb::dlrm_exchange {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<Table> const four_tables{{100, 8, one}, {5, 16, 9 * one}, {1000, 8, 2 * one}, {50, 4, 3 * one}};

std::string text_of(Layout const& layout) {
    std::ostringstream text;
    for (Shard const& shard : layout.shards) {
        text << shard.table << ":" << shard.width << "@" << shard.rank << " ";
    }
    for (std::size_t const table : layout.row_wise) {
        text << table << ":row ";
    }
    for (std::size_t const table : layout.replicated) {
        text << table << ":data ";
    }
    return text.str();
}

TEST(DlrmLayout, ShardingsCutTablesAsTheySay) {
    auto const cut = [](LayoutRule const& rule) { return text_of(make_layout(four_tables, rule, 2)); };
    EXPECT_EQ(cut({.sharding = Sharding::table}), "0:8@0 1:16@1 2:8@0 3:4@1 ");
    EXPECT_EQ(cut({.sharding = Sharding::column, .column_width = 6}),
              "0:6@0 0:2@1 1:6@0 1:6@1 1:4@0 2:6@1 2:2@0 3:4@1 ");
    EXPECT_EQ(cut({.sharding = Sharding::row}), "0:row 1:row 2:row 3:row ");
    EXPECT_EQ(cut({.sharding = Sharding::mixed, .row_wise_from = 1000, .replicate_below = 50}),
              "0:8@0 3:4@1 2:row 1:data ");
}

TEST(DlrmLayout, SizeBalancesValuesAndPoolingBalancesIndices) {
    auto const place = [](Placement placement) {
        return text_of(make_layout(four_tables, {.placement = placement}, 2));
    };
    EXPECT_EQ(place(Placement::size), "0:8@1 1:16@1 2:8@0 3:4@1 ");     // 8000 | 800 + 200 + 80
    EXPECT_EQ(place(Placement::pooling), "0:8@1 1:16@0 2:8@1 3:4@1 ");  // 9 | 3 + 2 + 1
}

TEST(DlrmLayout, RowBlocksAreEqualAndTheLastRanksMayHaveNone) {
    EXPECT_EQ(rows_before(10, 1, 4), 3U);
    EXPECT_EQ(rows_before(10, 4, 4), 10U);
    EXPECT_EQ(rows_before(3, 3, 8), 3U);
    EXPECT_EQ(rows_before(3, 8, 8), 3U);
    EXPECT_EQ(rows_before(0xFFFF'FFFF, 65535, 65536), 0xFFFF'0000U);  // above 32 bits on the way
}

TEST(DlrmPlacement, TiesGoToTheLowerItemAndRank) {
    EXPECT_EQ(longest_first(std::vector<std::uint64_t>{4, 4, 4, 4}, 2), (Indices{0, 1, 0, 1}));
    EXPECT_EQ(longest_first(std::vector<std::uint64_t>{1, 9}, 4), (Indices{1, 0}));
    EXPECT_TRUE(longest_first({}, 3).empty());
}

std::uint64_t busiest(std::vector<std::uint64_t> const& loads, Indices const& rank_of, std::size_t ranks) {
    std::vector<std::uint64_t> totals(ranks);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        totals[rank_of[i]] += loads[i];
    }
    return *std::max_element(totals.begin(), totals.end());
}

/// Tries every placement.
std::uint64_t optimum(std::vector<std::uint64_t> const& loads, std::size_t ranks) {
    Indices rank_of(loads.size());
    std::uint64_t best = busiest(loads, rank_of, ranks);
    while (true) {
        auto digit = std::find_if(rank_of.begin(), rank_of.end(), [&](std::size_t rank) { return rank + 1 < ranks; });
        if (digit == rank_of.end()) {
            return best;
        }
        std::fill(rank_of.begin(), digit, 0);
        ++*digit;
        best = std::min(best, busiest(loads, rank_of, ranks));
    }
}

// Graham 1969: 4/3 - 1/(3 ranks); {5,5,4,4,3,3,3} over 3 ranks reaches it: 11 against 9.
TEST(DlrmPlacement, LongestFirstIsWithinGrahamsBound) {
    std::vector<std::uint64_t> const worst{5, 5, 4, 4, 3, 3, 3};
    EXPECT_EQ(busiest(worst, longest_first(worst, 3), 3), 11U);
    EXPECT_EQ(optimum(worst, 3), 9U);
    for (auto const& loads : {std::vector<std::uint64_t>{45, 37, 30, 29, 25, 21, 14, 8, 1},
                              std::vector<std::uint64_t>{100, 27, 12, 10, 9, 8, 7, 6, 6}}) {
        EXPECT_LE(9 * busiest(loads, longest_first(loads, 3), 3), 11 * optimum(loads, 3));
    }
}

std::string read(char const* text, Sharding sharding) {
    std::istringstream stream(text);
    return text_of(read_placement(stream, "place.txt", four_tables, sharding, 4));
}

TEST(DlrmPlacementFile, SaysForEveryTableWhereItGoes) {
    EXPECT_EQ(read("3\n0\n# comment\n1 # here\n\n2\n", Sharding::table), "0:8@3 1:16@0 2:8@1 3:4@2 ");
    EXPECT_EQ(read("0 2 3\nrow\ndata\n1\n", Sharding::mixed), "0:2@0 0:3@2 0:3@3 3:4@1 1:row 2:data ");
}

TEST(DlrmPlacementFile, MistakesAreNamedByLine) {
    auto const mistake = [](char const* text, Sharding sharding) {
        return refusal([&] { (void)read(text, sharding); });
    };
    EXPECT_EQ(mistake("0\n4\n", Sharding::table),
              "--placement place.txt:2: '4': expected ranks below 4, 'row' or 'data'");
    EXPECT_EQ(mistake("0 1\n", Sharding::table),
              "--placement place.txt:1: several ranks share a table by columns; needs --sharding column or mixed");
    EXPECT_EQ(mistake("row\n", Sharding::column),
              "--placement place.txt:1: 'row' and 'data' stand alone and need --sharding mixed");
    EXPECT_EQ(mistake("0\n0\n0\n0 1 2 3 0\n", Sharding::mixed),
              "--placement place.txt:4: 5 ranks for the 4 columns of the table");
    EXPECT_EQ(mistake("0\n", Sharding::table), "--placement place.txt:1: 1 lines, expected 4 (one per table)");
    EXPECT_EQ(mistake("0\n0\n0\n0\n0\n", Sharding::table), "--placement place.txt:5: more lines than the 4 tables");
    EXPECT_EQ(refusal([] {
                  (void)make_dlrm({{"placement", "file:/nowhere"}}, 2);
              }),
              "--placement file:/nowhere: cannot be read");
    EXPECT_EQ(refusal([] {
                  (void)make_dlrm({{"placement", "file:x"}, {"sharding", "row"}}, 2);
              }),
              "--placement file: --sharding row has nothing to place; use table, column or mixed");
}

}  // namespace
}  // namespace dlmb::dlrm_exchange

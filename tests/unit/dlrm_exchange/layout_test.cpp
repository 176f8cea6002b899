// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace dlmb::dlrm_exchange {
namespace {

std::vector<PooledTable> const four_tables{{100, 8, one}, {5, 16, 9 * one}, {1000, 8, 2 * one}, {50, 4, 3 * one}};

std::string text_of(ShardLayout const& layout) {
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
    auto const placed = [](char const* load) {
        return text_of(make_layout(four_tables, {.placement = {.kind = PlacementRule::Kind::lpt, .load = load}}, 2));
    };
    EXPECT_EQ(placed("size"), "0:8@1 1:16@1 2:8@0 3:4@1 ");     // 8000 | 800 + 200 + 80
    EXPECT_EQ(placed("pooling"), "0:8@1 1:16@0 2:8@1 3:4@1 ");  // 9 | 3 + 2 + 1
}

TEST(DlrmLayout, RowBlocksAreEqualAndTheLastRanksMayHaveNone) {
    EXPECT_EQ(rows_before(10, 1, 4), 3U);
    EXPECT_EQ(rows_before(10, 4, 4), 10U);
    EXPECT_EQ(rows_before(3, 3, 8), 3U);
    EXPECT_EQ(rows_before(3, 8, 8), 3U);
    EXPECT_EQ(rows_before(0xFFFF'FFFF, 65535, 65536), 0xFFFF'0000U);  // above 32 bits on the way
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
        return usage_error_of([&] { (void)read(text, sharding); });
    };
    EXPECT_EQ(mistake("0\n4\n", Sharding::table),
              "--placement place.txt:2: '4': expected ranks below 4, 'row' or 'data'");
    EXPECT_EQ(mistake("0 1\n0\n0\n0\n", Sharding::table),
              "--placement place.txt:1: several ranks share a table by columns; needs --sharding column or mixed");
    EXPECT_EQ(mistake("row\n0\n0\n0\n", Sharding::column),
              "--placement place.txt:1: 'row' and 'data' need --sharding mixed");
    EXPECT_EQ(mistake("0\n0\n0\n0 1 2 3 0\n", Sharding::mixed),
              "--placement place.txt:4: 5 ranks for the 4 columns of the table");
    EXPECT_EQ(mistake("row 1\n", Sharding::mixed), "--placement place.txt:1: 'row' stands alone");
    EXPECT_EQ(mistake("0\n", Sharding::table), "--placement place.txt:1: 1 lines, expected 4 (one per table)");
    EXPECT_EQ(mistake("0\n0\n0\n0\n0\n", Sharding::table), "--placement place.txt:5: more lines than the 4 tables");
    EXPECT_EQ(refusal({{"placement", "file:/nowhere"}}), "--placement file:/nowhere: cannot be read");
    EXPECT_EQ(refusal({{"placement", "file:x"}, {"sharding", "row"}}),
              "--placement file: --sharding row has nothing to place; use table, column or mixed");
}

}  // namespace
}  // namespace dlmb::dlrm_exchange

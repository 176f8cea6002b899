// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/sizes.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::dlrm_exchange {
namespace {

TEST(DlrmBags, FixedBagsLoseNothingOfAFraction) {
    EXPECT_EQ(fixed_indices(3 * one, {10, 15}), 15U);
    EXPECT_EQ(fixed_indices(1'500'000, {0, 1}), 1U);
    EXPECT_EQ(fixed_indices(1'500'000, {1, 2}), 2U);
    EXPECT_EQ(fixed_indices(333'333, {0, 7}) + fixed_indices(333'333, {7, 1'000'000}), 333'333U);
    EXPECT_EQ(fixed_indices(65536 * one + 999'999, {0, std::uint64_t{1} << 31}),
              (std::uint64_t{1} << 47) + 2'147'481'500U);  // 2^31 * 0.999999, rounded down
}

TEST(DlrmBags, RowsGetTheirShareEvenWhereTheProductNeedsMoreThan64Bits) {
    EXPECT_EQ(indices_below(10, 3, 4), 7U);
    EXPECT_EQ(indices_below(10, 4, 4), 10U);
    std::uint64_t const rows = 0xFFFF'FFFF;
    EXPECT_EQ(indices_below(rows * 1000 + 7, rows, rows), rows * 1000 + 7);
    EXPECT_EQ(indices_below(rows * 1000, rows / 3, rows), rows / 3 * 1000);
}

// 4000 bags of 0 to 20 indices: mean 10, standard deviation of the sum 6.06 * 63 = 383.
TEST(DlrmBags, DrawnBagsKeepTheMean) {
    auto const total = static_cast<double>(drawn_indices(3, 10 * one, {0, 4000}, {7, 2}));
    EXPECT_NEAR(total, 40000, 4 * 383);
    EXPECT_NE(total, 40000);
}

TEST(DlrmBags, ADrawnBagDependsOnTableSampleAndDrawOnly) {
    auto const draw = [](Samples samples, std::size_t table = 3, Draw which = {7, 2}) {
        return drawn_indices(table, 10 * one, samples, which);
    };
    EXPECT_EQ(draw({0, 101}) + draw({101, 250}), draw({0, 250}));
    EXPECT_NE(draw({0, 1000}), draw({0, 1000}, 4));
    EXPECT_NE(draw({0, 1000}), draw({0, 1000}, 3, {7, 3}));
    EXPECT_NE(draw({0, 1000}), draw({0, 1000}, 3, {8, 2}));
    EXPECT_EQ(draw({5, 5}), 0U);
}

}  // namespace
}  // namespace dlmb::dlrm_exchange

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Rules that give units to ranks. What they do to the messages of patterns is in tests/golden/dlrm_placement_test.cpp
// and tests/unit/moe_alltoall/placement_test.cpp.
#include "patterns/placement.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace dlmb {
namespace {

using Indices = std::vector<std::size_t>;

PlacementRule rule(char const* text, PlacementChoices const& choices = {}) {
    return read_placement_rule({{"placement", text}}, "placement", choices);
}

std::string refusal(char const* text, PlacementChoices const& choices = {}) {
    return usage_error_of([&] { (void)rule(text, choices); });
}

/// `parts` units of weight 1 for each of `items` items.
std::vector<PlacedUnit> units_of(std::size_t items, std::size_t parts) {
    std::vector<PlacedUnit> units;
    for (std::size_t i = 0; i < items * parts; ++i) {
        units.push_back({i / parts, 1});
    }
    return units;
}

TEST(Placement, BlocksAreNeighboursAndCyclicTakesTurns) {
    EXPECT_EQ(place(rule("block"), units_of(8, 1), 3), (Indices{0, 0, 1, 1, 1, 2, 2, 2}));  // as i * 8 / 3
    EXPECT_EQ(place(rule("cyclic"), units_of(5, 1), 3), (Indices{0, 1, 2, 0, 1}));
}

// Six items of four parts on four ranks: coarse keeps the parts together, fine gives every rank one part of each.
TEST(Placement, CoarseKeepsItemsWholeAndFineSpreadsThem) {
    auto const units = units_of(6, 4);
    Indices const coarse = place(rule("coarse"), units, 4);
    Indices const fine = place(rule("fine"), units, 4);
    std::array<int, 4> items{};
    for (std::size_t item = 0; item < 6; ++item) {
        auto const at = static_cast<std::ptrdiff_t>(4 * item);
        EXPECT_EQ(std::count(coarse.begin() + at, coarse.begin() + at + 4, coarse[4 * item]), 4);
        Indices spread(fine.begin() + at, fine.begin() + at + 4);
        std::sort(spread.begin(), spread.end());
        EXPECT_EQ(spread, (Indices{0, 1, 2, 3}));
        ++items.at(coarse[4 * item]);
    }
    EXPECT_EQ(*std::max_element(items.begin(), items.end()), 2);  // six items on four ranks
    EXPECT_EQ(*std::min_element(items.begin(), items.end()), 1);
}

TEST(Placement, TheSeedDecidesTheOrderOfItems) {
    auto const units = units_of(40, 1);
    EXPECT_EQ(place(rule("coarse:7"), units, 8), place(rule("coarse:7"), units, 8));
    EXPECT_NE(place(rule("coarse:7"), units, 8), place(rule("coarse:8"), units, 8));
    EXPECT_EQ(place(rule("coarse"), units, 8), place(rule("coarse:1"), units, 8));
}

TEST(Placement, WordsThatAreNoRuleAreRefusedWithThoseThatAre) {
    EXPECT_EQ(refusal("round"),
              "--placement 'round': expected block, cyclic, coarse[:SEED], fine[:SEED], lpt, file:PATH");
    EXPECT_EQ(refusal("eplb", {.eplb = true, .none = true}), "accepted");
    constexpr std::array<std::string_view, 2> loads{"size", "pooling"};
    EXPECT_EQ(rule("lpt", {.loads = loads}).load, "size");
    EXPECT_EQ(rule("lpt:pooling", {.loads = loads}).load, "pooling");
    for (char const* text :
         {"", "block:1", "coarse:x", "coarse:", "fine:-1", "lpt:", "lpt:rows", "eplb", "none", "file:"}) {
        EXPECT_EQ(refusal(text, {.loads = loads}),
                  std::string("--placement '") + text +
                      "': expected block, cyclic, coarse[:SEED], fine[:SEED], lpt, lpt:size, lpt:pooling, file:PATH");
    }
}

TEST(Placement, TiesGoToTheLowerItemAndRank) {
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
TEST(Placement, LongestFirstIsWithinGrahamsBound) {
    std::vector<std::uint64_t> const worst{5, 5, 4, 4, 3, 3, 3};
    EXPECT_EQ(busiest(worst, longest_first(worst, 3), 3), 11U);
    EXPECT_EQ(optimum(worst, 3), 9U);
    for (auto const& loads : {std::vector<std::uint64_t>{45, 37, 30, 29, 25, 21, 14, 8, 1},
                              std::vector<std::uint64_t>{100, 27, 12, 10, 9, 8, 7, 6, 6}}) {
        EXPECT_LE(9 * busiest(loads, longest_first(loads, 3), 3), 11 * optimum(loads, 3));
    }
}

}  // namespace
}  // namespace dlmb

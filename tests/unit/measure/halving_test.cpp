// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which cells get no more rounds, and that the others are measured as if nothing had happened.
#include "common/measure/runner.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

using Rounds = std::vector<double>;
constexpr double factor = 2;

std::vector<std::size_t> indices(std::vector<CellSoFar> const& cells) {
    std::vector<std::size_t> found;
    std::vector<double> const slower = times_slower(cells, factor);
    for (std::size_t index = 0; index < slower.size(); ++index) {
        if (slower[index] > 0) {
            found.push_back(index);
        }
    }
    return found;
}

TEST(Halving, WhatIsFarSlowerInEveryRoundGoesAndSaysHowMuch) {
    Rounds const best{10, 12, 11};
    Rounds const slow{33, 34, 32};
    std::vector<CellSoFar> const cells{{best}, {slow}};
    EXPECT_EQ(times_slower(cells, factor), (std::vector<double>{0, 3}));
    EXPECT_EQ(times_slower(cells, 3), (std::vector<double>{0, 0})) << "32 is not more than 3 times 12";
}

TEST(Halving, OneSlowRoundOfTheBestOrOneFastRoundOfAnotherKeepsItAndOneRoundIsNotEnough) {
    for (auto const& [best, other] :
         {std::pair<Rounds, Rounds>{{10, 17, 10}, {33, 33, 33}}, {{10, 10, 10}, {15, 40, 40}}, {{10}, {90}}}) {
        EXPECT_TRUE(indices({{best}, {other}}).empty()) << best.size();
    }
}

TEST(Halving, OnlyTheSlowerHalfMayGoAtOnce) {
    Rounds const best{10, 10};
    Rounds const slow{50, 50};
    Rounds const slower{60, 60};
    Rounds const slowest{70, 70};
    EXPECT_EQ(indices({{best}, {slowest}, {slow}, {slower}}), (std::vector<std::size_t>{1, 3}));
    EXPECT_EQ(indices({{best}, {slow}}), (std::vector<std::size_t>{1}));
}

TEST(Halving, TheDefaultStaysAndLeaguesDoNotCompete) {
    Rounds const best{10, 10};
    Rounds const slow{90, 90};
    EXPECT_TRUE(indices({{best}, {.round_medians_ns = slow, .may_drop = false}}).empty());
    EXPECT_TRUE(indices({{best, 0}, {slow, 1}}).empty());
}

TEST(Halving, WhatHasNoRoundsIsNotAmongThem) {
    Rounds const best{10, 10};
    Rounds const slow{90, 90};
    EXPECT_EQ(indices({{{}}, {best}, {slow}}), (std::vector<std::size_t>{2}));
    EXPECT_TRUE(indices({}).empty());
}

// With such a factor every cell of the slower half is hopeless, whatever the times: of two cells one, and it does not
// matter which.
constexpr double anything = 1e-9;

/// Two alike cells of one backend, of one point or each in its own; sixty samples in six rounds of ten.
std::vector<std::vector<testing::Told>> run_two(double drop_slower, std::size_t points = 1, bool named = false) {
    testing::RunSpec spec{.ranks = 2,
                          .draws = 1,
                          .options = testing::brief(),
                          .cells = {testing::without_fault(), testing::without_fault()}};
    spec.one_backend = true;
    spec.options.iterations = 60;
    spec.options.drop_slower = drop_slower;
    spec.points = points;
    spec.named = named;
    return testing::run(spec);
}

TEST(Halving, ADroppedCellKeepsItsSamplesIsCheckedAndIsToldToAllRanks) {
    auto const told = run_two(anything);
    for (auto const& rank : told) {
        ASSERT_EQ(rank.size(), 2U);
        EXPECT_EQ(rank[0].cell, told[0][0].cell);
        EXPECT_EQ(rank[0].result.status, record::Status::ok);
        EXPECT_GE(rank[0].result.dropped.value_or(0), 1);
        EXPECT_EQ(rank[0].result.validation.verdict, record::Verdict::passed);
        EXPECT_EQ(rank[0].result.stop_reason, "time");
        EXPECT_FALSE(rank[1].result.dropped) << "the best of its backend";
    }
    EXPECT_EQ(told[0][0].result.time.samples, 20U) << "two rounds";
    EXPECT_EQ(told[0][1].result.time.samples, 60U) << "all that it would have had alone";
}

TEST(Halving, NothingIsDroppedUnlessAskedForThatWasNamedOrThatIsAloneAtItsPoint) {
    for (auto const& told : {run_two(0), run_two(anything, 1, true), run_two(anything, 2)}) {
        ASSERT_EQ(told[0].size(), 2U);
        for (testing::Told const& cell : told[0]) {
            EXPECT_FALSE(cell.result.dropped);
            EXPECT_EQ(cell.result.time.samples, 60U);
        }
    }
}

}  // namespace
}  // namespace dlmb::measure

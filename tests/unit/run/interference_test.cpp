// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/derived_figures.hpp"
#include "common/run/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using testing::HasSubstr;

/// `plan`: that of the file both.jsonl is the one of moe.jsonl with the one of sum.jsonl beside it.
record::Record cell_of(std::string const& plan, std::string const& backend, std::string const& method, double us,
                       bool is_default = false) {
    record::Record cell;
    cell.is_default = is_default;
    cell.identity.backend = backend;
    cell.identity.method = method;
    cell.identity.memory = "host";
    cell.identity.parameters = {{"plan", plan}, {"overlay", plan == "both.jsonl" ? "moe.jsonl + sum.jsonl" : ""}};
    cell.identity.draws = plan == "sum.jsonl" ? 1 : 8;
    cell.result.time.median = us * 1000;
    return cell;
}

/// Figures of awaited cells that finished cells complete; empty: none.
std::map<std::string, double> figures_of(CellRelations& relations) {
    auto const completed = relations.completed();
    EXPECT_LE(completed.size(), 1U);
    return completed.empty() ? std::map<std::string, double>{} : completed[0].statistics;
}

/// The same of `together`, once the others are finished.
std::map<std::string, double> figures_of(std::vector<record::Record> const& alone, record::Record const& together) {
    CellRelations relations(replay::type());
    for (record::Record const& cell : alone) {
        relations.add(cell);
    }
    relations.await(together, "");
    return figures_of(relations);
}

// 300 us and 200 us take 400 us together: 400/300 of the longer, and 100 of the shorter one's 200 us cost no time.
TEST(Interference, IsTogetherOverTheLongerOfBothAlone) {
    CellRelations relations(replay::type());
    relations.add(cell_of("moe.jsonl", "mpi", "nonblocking", 300));
    relations.add(cell_of("sum.jsonl", "ucx", "auto", 200, true));
    relations.await(cell_of("both.jsonl", "mpi+ucx", "nonblocking", 400), "a title");
    auto const completed = relations.completed();
    ASSERT_EQ(completed.size(), 1U);
    EXPECT_EQ(completed[0].title, "a title");
    EXPECT_EQ(
        completed[0].statistics,
        (std::map<std::string, double>{
            {"main_alone_us", 300}, {"beside_alone_us", 200}, {"interference", 400.0 / 300}, {"overlap_share", 0.5}}));
    EXPECT_EQ(interference_line(completed[0].cell),
              "# alone 300.000 us, beside alone 200.000 us: interference 1.333, overlap share 0.500\n");
}

// The plans take 300 us and 200 us alone. Together the phases of one end at 360 us, those of the other at 250 us.
TEST(Interference, EachOfBothIsSlowedDownByTheEndOfItsLastPhase) {
    CellRelations relations(replay::type());
    auto const with_interval = [](record::Record cell, double share) {
        cell.result.time.median_low = cell.result.time.median * (1 - share);
        cell.result.time.median_high = cell.result.time.median * (1 + share);
        return cell;
    };
    record::Record main = with_interval(cell_of("moe.jsonl", "ucx", "linear", 300), 0.1);
    main.result.phases = {{"dispatch", {}}, {"combine", {}}};
    record::Record beside = cell_of("sum.jsonl", "ucx", "linear", 200);
    beside.result.phases = {{"allreduce", {}}};
    record::Record together = cell_of("both.jsonl", "ucx", "linear", 400);
    together.result.phases = {{"beside", {}, record::MedianInterval{250e3, 240e3, 260e3}},
                              {"dispatch", {}, record::MedianInterval{200e3, 190e3, 210e3}},
                              {"combine", {}, record::MedianInterval{360e3, 330e3, 390e3}}};
    relations.add(main);
    relations.add(beside);
    relations.await(together, "");
    auto const completed = relations.completed();
    ASSERT_EQ(completed.size(), 1U);
    auto const& figures = completed[0].statistics;
    EXPECT_DOUBLE_EQ(figures.at("main_slowdown"), 1.2);
    EXPECT_DOUBLE_EQ(figures.at("main_slowdown_low"), 330.0 / 330);
    EXPECT_DOUBLE_EQ(figures.at("main_slowdown_high"), 390.0 / 270);
    EXPECT_DOUBLE_EQ(figures.at("beside_slowdown"), 1.25);
    EXPECT_FALSE(figures.contains("beside_slowdown_low")) << "alone it has no interval";
    EXPECT_THAT(interference_line(completed[0].cell), HasSubstr("# slowed down: main 1.2 (1 to 1.44), beside 1.25\n"));
}

// A neighbour that does nothing: the median is 300 us from the common start, the last phase ends 290 us after its rank
// began, alone and together.
TEST(Interference, IsNoneBesideNothing) {
    record::Record main = cell_of("moe.jsonl", "ucx", "linear", 300);
    main.result.phases = {{"dispatch", {}, record::MedianInterval{150e3, 145e3, 155e3}},
                          {"combine", {}, record::MedianInterval{290e3, 285e3, 295e3}}};
    record::Record together = cell_of("both.jsonl", "ucx", "linear", 300);
    together.result.phases = main.result.phases;
    auto const figures = figures_of({main, cell_of("sum.jsonl", "ucx", "linear", 1)}, together);
    EXPECT_DOUBLE_EQ(figures.at("main_slowdown"), 1);
    EXPECT_LT(figures.at("main_slowdown_low"), 1);
    EXPECT_GT(figures.at("main_slowdown_high"), 1);
}

TEST(Interference, OfAPairIsWithTheMethodOfItsSecondBackend) {
    auto const figures =
        figures_of({cell_of("moe.jsonl", "mpi", "nonblocking", 300), cell_of("sum.jsonl", "ucx", "auto", 200, true),
                    cell_of("sum.jsonl", "ucx", "ring", 250)},
                   cell_of("both.jsonl", "mpi+ucx/ring", "nonblocking", 400));
    EXPECT_DOUBLE_EQ(figures.at("beside_alone_us"), 250);
}

TEST(Interference, IsToldOnceWhicheverOfTheThreeEndsLast) {
    std::vector<record::Record> const cells{cell_of("moe.jsonl", "ucx", "linear", 300),
                                            cell_of("sum.jsonl", "ucx", "linear", 200),
                                            cell_of("both.jsonl", "ucx", "linear", 400)};
    for (std::size_t const last : {0U, 1U, 2U}) {
        CellRelations relations(replay::type());
        for (std::size_t i = 1; i <= cells.size(); ++i) {
            record::Record const& cell = cells[(last + i) % cells.size()];
            EXPECT_TRUE(relations.completed().empty());
            relations.add(cell);
            relations.await(cell, "");
        }
        EXPECT_DOUBLE_EQ(figures_of(relations).at("interference"), 400.0 / 300);
        EXPECT_TRUE(relations.completed().empty());
    }
}

TEST(Interference, OneAfterTheOtherHidesNothing) {
    auto const figures =
        figures_of({cell_of("moe.jsonl", "ucx", "linear", 300), cell_of("sum.jsonl", "ucx", "auto", 200, true)},
                   cell_of("both.jsonl", "ucx", "linear", 500));
    EXPECT_DOUBLE_EQ(figures.at("overlap_share"), 0);
}

TEST(Interference, WhatAMethodDoesNotChangeIsComparedWithTheDefault) {
    CellRelations relations(replay::type());
    relations.add(cell_of("moe.jsonl", "ucx", "pairwise", 250));
    relations.await(cell_of("both.jsonl", "ucx", "ring", 500), "");  // ring does no exchanges
    relations.add(cell_of("sum.jsonl", "ucx", "ring", 220));
    relations.add(cell_of("sum.jsonl", "ucx", "auto", 200, true));
    EXPECT_TRUE(figures_of(relations).empty()) << "its exchanges are not those of pairwise";
    relations.add(cell_of("moe.jsonl", "ucx", "linear", 300, true));
    auto const figures = figures_of(relations);
    EXPECT_DOUBLE_EQ(figures.at("main_alone_us"), 300);
    EXPECT_DOUBLE_EQ(figures.at("beside_alone_us"), 220);
}

TEST(Interference, IsNotSaidWhereOneOfThemIsMissingOrCouldBeSeveral) {
    CellRelations relations(replay::type());
    record::Record const together = cell_of("both.jsonl", "ucx", "pairwise", 500);
    relations.await(together, "");
    EXPECT_TRUE(figures_of(relations).empty());
    relations.add(cell_of("moe.jsonl", "ucx", "pairwise", 300));
    relations.add(cell_of("sum.jsonl", "ucx", "ring", 200));
    relations.add(cell_of("sum.jsonl", "ucx", "knomial", 210));
    EXPECT_TRUE(figures_of(relations).empty()) << "by ring or by knomial?";
    EXPECT_EQ(interference_line(together), "");
}

}  // namespace
}  // namespace dlmb::run

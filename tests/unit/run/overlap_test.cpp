// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/derived_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using testing::HasSubstr;

constexpr std::string_view compute_parameters[] = {"compute"};
PatternType const computing_pattern = [] {
    PatternType type{};
    type.compute_parameters = compute_parameters;
    return type;
}();

record::Record cell_of(char const* compute, double iteration_us, std::map<std::string, double> statistics) {
    record::Record cell;
    cell.identity.backend = "mpi";
    cell.identity.method = "isend_irecv";
    cell.identity.memory = "host";
    cell.identity.parameters = {{"compute", compute}, {"schedule", "1f1b"}};
    cell.result.time.median = iteration_us * 1000;
    cell.statistics = std::move(statistics);
    return cell;
}

// 100 us of computation in 120 us: 20 us are exposed, 20/120 of the iteration.
TEST(Overlap, WhatIsNotComputationIsExposed) {
    record::Record cell = cell_of("busy", 120, {{"compute_us", 100}});
    add_exposed_times(cell);
    CellRelations(computing_pattern).add_overlap(cell);
    EXPECT_DOUBLE_EQ(cell.statistics.at("exposed_us"), 20);
    EXPECT_DOUBLE_EQ(cell.statistics.at("bubble_ratio"), 1.0 / 6);
    EXPECT_EQ(cell.statistics.count("overlap_ratio"), 0U) << "what communication takes alone was not measured";
}

// Alone it takes 40 us, of which 20 us are seen beside the computation: half is hidden.
TEST(Overlap, TheSameCellWithoutComputationTellsHowMuchIsHidden) {
    CellRelations relations(computing_pattern);
    record::Record alone = cell_of("none", 40, {});
    relations.add(alone);
    relations.add_overlap(alone);
    EXPECT_TRUE(alone.statistics.empty());
    record::Record cell = cell_of("busy", 120, {{"compute_us", 100}});
    add_exposed_times(cell);
    relations.add_overlap(cell);
    EXPECT_DOUBLE_EQ(cell.statistics.at("communication_us"), 40);
    EXPECT_DOUBLE_EQ(cell.statistics.at("overlap_ratio"), 0.5);
    EXPECT_THAT(overlap_line(cell), HasSubstr("communication alone 40.000 us, overlap ratio 0.500\n"));
}

TEST(Overlap, TellsWhatACellTookAlone) {
    CellRelations relations(computing_pattern);
    record::Record alone = cell_of("none", 40, {});
    EXPECT_EQ(relations.communication_us(alone), 0);
    relations.add(alone);
    EXPECT_DOUBLE_EQ(relations.communication_us(cell_of("busy", 0, {})), 40);
}

TEST(Overlap, IsToldOnceWhereTheCellWithoutComputationEndsLater) {
    CellRelations relations(computing_pattern);
    relations.await(cell_of("busy", 120, {{"compute_us", 100}}), "a title");
    EXPECT_TRUE(relations.completed().empty());
    relations.add(cell_of("none", 40, {}));
    auto const completed = relations.completed();
    ASSERT_EQ(completed.size(), 1U);
    EXPECT_EQ(completed[0].title, "a title");
    EXPECT_EQ(completed[0].statistics,
              (std::map<std::string, double>{{"communication_us", 40}, {"overlap_ratio", 0.5}}));
    EXPECT_DOUBLE_EQ(completed[0].cell.statistics.at("compute_us"), 100);
    relations.add(cell_of("none", 50, {}));
    EXPECT_TRUE(relations.completed().empty());
}

TEST(Overlap, IsNotAwaitedByACellThatHasItOrThatComputesNothing) {
    CellRelations relations(computing_pattern);
    relations.add(cell_of("none", 40, {}));
    relations.await(cell_of("none", 40, {}), "");
    relations.await(cell_of("busy", 120, {{"compute_us", 100}, {"overlap_ratio", 0.3}}), "");
    EXPECT_TRUE(relations.completed().empty());
}

// The schedule itself takes 110 us: communication adds 10 of its 40 us.
TEST(Overlap, DoesNotBlameBubblesOnCommunicationAndIsBelowZeroWhereComputingSlowsItDown) {
    CellRelations relations(computing_pattern);
    relations.add(cell_of("none", 40, {}));
    record::Record cell = cell_of("busy", 120, {{"compute_us", 100}, {"ideal_makespan_us", 110}});
    relations.add_overlap(cell);
    EXPECT_DOUBLE_EQ(cell.statistics.at("overlap_ratio"), 0.75);
    record::Record slow = cell_of("gemm", 160, {{"compute_us", 100}});
    relations.add_overlap(slow);
    EXPECT_DOUBLE_EQ(slow.statistics.at("overlap_ratio"), -0.5);
}

TEST(Overlap, OtherTrafficAndCellsThatFailedTellNothing) {
    using Change = std::function<void(record::Record&)>;
    CellRelations relations(computing_pattern);
    for (Change const& change : {
             Change{[](record::Record& cell) { cell.result.status = record::Status::invalid; }},
             Change{[](record::Record& cell) { cell.identity.backend = "ucx"; }},
             Change{[](record::Record& cell) { cell.identity.method = "persistent"; }},
             Change{[](record::Record& cell) { cell.identity.parameters["schedule"] = "gpipe"; }},
             Change{[](record::Record& cell) { cell.identity.world.ranks = 4; }},
             Change{[](record::Record& cell) { cell.identity.seed = 7; }},
             Change{[](record::Record& cell) { cell.identity.mode = "stream"; }},
         }) {
        record::Record alone = cell_of("none", 40, {});
        change(alone);
        relations.add(alone);
    }
    record::Record cell = cell_of("busy", 120, {{"compute_us", 100}});
    EXPECT_EQ(relations.communication_us(cell), 0);
    relations.add_overlap(cell);
    EXPECT_EQ(cell.statistics.count("overlap_ratio"), 0U);
}

// OSU's headline is half of a round trip of 1.1 us; the clock has to resolve the whole.
TEST(BelowFloor, IsAskedOfTheWholeCall) {
    record::Record cell;
    cell.result.time.median = 550;
    cell.result.samples_ns = {550};
    cell.result.rank_median_ns = {1100, 1000};
    add_figures(cell, 32.0);
    EXPECT_EQ(cell.result.below_floor, false);
    add_figures(cell, 60.0);
    EXPECT_EQ(cell.result.below_floor, true);
}

}  // namespace
}  // namespace dlmb::run

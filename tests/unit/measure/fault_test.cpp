// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cells on backends that deliver wrong bytes or fail: caught, named, no times, the other cells go on.
#include "tests/unit/measure/run_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace dlmb::measure {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_invalid(std::vector<std::vector<Told>> const& told, std::vector<std::string> const& named) {
    for (auto const& rank : told) {
        ASSERT_EQ(rank.size(), 1U);
        CellResult const& result = rank[0].result;
        EXPECT_EQ(result.status, Status::invalid);
        EXPECT_EQ(result.validation.verdict, Verdict::failed);
        for (std::string const& text : named) {
            EXPECT_THAT(result.reason, HasSubstr(text));
        }
        EXPECT_TRUE(result.samples_ns.empty());
        EXPECT_TRUE(result.phases.empty());
        EXPECT_EQ(result.time.samples, 0U);
        EXPECT_EQ(result.time.median, 0);
        EXPECT_EQ(result.first_iteration_ns, 0);
    }
}

TEST(Faults, ACorruptedByteIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(corrupted_byte(1, "dispatch", 2))}}),
                   {"before timing", "draw 0", "rank 1:", "\"dispatch\"", "block from rank 2", "byte 100"});
}

TEST(Faults, ASwappedBlockIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(swapped_blocks(3, "combine.node", 0, 1))}}),
                   {"before timing", "draw 0", "rank 3:", "\"combine.node\"", "block from rank 0", "byte 0"});
}

TEST(Faults, AShortMessageIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(short_message(2, "dispatch", 0))}}),
                   {"before timing", "draw 0", "rank 2:", "\"dispatch\"", "block from rank 0", "byte 240"});
}

// Iterations 0 and 1 are the checks before timing, 2 .. 7 the samples, 8 and 9 the checks after.
TEST(Faults, ABackendThatStartsToFailWhileTimedHasNoTimes) {
    expect_invalid(run({.options = brief(), .cells = {with(corrupted_byte(0, "dispatch", 3, 5))}}),
                   {"after timing", "draw 0", "rank 0:", "block from rank 3"});
}

TEST(Faults, TheOtherCellsKeepTheirTimes) {
    auto const told =
        run({.options = brief(), .cells = {without_fault(), with(corrupted_byte(1, "dispatch", 2)), without_fault()}});
    ASSERT_EQ(told[0].size(), 3U);
    EXPECT_EQ(told[0][0].cell, 1U);
    EXPECT_EQ(told[0][0].result.status, Status::invalid);
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_EQ(told[0][i].result.status, Status::ok);
        EXPECT_EQ(told[0][i].result.samples_ns.size(), 6U);
    }
}

TEST(Faults, ATransportThatGivesUpCountsAsStandingStill) {
    Fault fault;
    fault.before = [](Iteration const& iteration) {
        if (iteration.plan.me == 2 && iteration.number == 4) {
            throw TimeoutError("gave up");
        }
    };
    std::promise<std::string> cell;
    EXPECT_THROW((void)run({.options = brief(),
                            .cells = {with(fault)},
                            .hang = [&](HangReport const& hang) { cell.set_value(std::string(hang.cell)); }}),
                 Error);
    EXPECT_EQ(cell.get_future().get(), "cell 0");
}

TEST(Faults, AFaultOnOneRankEndsTheRunOnAll) {
    for (std::uint64_t const iteration : {0U, 4U}) {
        try {
            (void)run({.options = brief(), .cells = {with(throwing_rank(2, iteration))}});
            ADD_FAILURE() << "the run went on";
        } catch (Error const& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 2"), HasSubstr("injected fault of a library call")));
        }
    }
}

}  // namespace
}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a person is told about the noise of a launch.
#include "common/run/launch_calibration.hpp"
#include "common/run/reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

record::Calibration calibration(std::vector<double> p99_over_min) {
    record::Calibration result;
    result.timer.cost_ns = 24;
    result.quanta.largest_detour_ns.assign(p99_over_min.size(), 4'000);
    result.quanta.p99_over_min = std::move(p99_over_min);
    result.barrier = {100, 2'500, record::BarrierFloor::ExitSkew{300, 900}};
    return result;
}

record::Record cell(std::string id, std::optional<double> aa_ratio, std::vector<std::string> flags = {}) {
    record::Record made;
    made.cell_id = std::move(id);
    made.result.aa_ratio = aa_ratio;
    made.result.flags = std::move(flags);
    return made;
}

TEST(LaunchCalibration, OneWarningNamesTheWorstOfTheDisturbedRanks) {
    EXPECT_TRUE(quiet_warnings(calibration({1.0, 1.5})).empty());
    std::vector<std::string> const warnings = quiet_warnings(calibration({1.0, 1.6, 3.2, 1.1}));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0], "other work on the machine interrupted 2 of 4 ranks, for up to 4 us (rank 2); end it");
}

TEST(LaunchCalibration, AWarningNamesEachSlowLink) {
    record::Calibration quiet = calibration({1.0});
    quiet.links = record::LinkFloor{6, {4'000, {{{0, 4}, 19'000}}}, {50'000, {{{2, 4}, 110'000}}}};
    std::vector<std::string> const warnings = quiet_warnings(quiet);
    ASSERT_EQ(warnings.size(), 2U);
    for (char const* part : {"ranks 0 and 4", "a round trip takes 19.00 us", "4.000 us is the median of 6 links"}) {
        EXPECT_THAT(warnings[0], HasSubstr(part));
    }
    for (char const* part :
         {"ranks 2 and 4", "256 KiB there and back take beyond that 110.0 us", "50.00 us is the median"}) {
        EXPECT_THAT(warnings[1], HasSubstr(part));
    }
}

TEST(LaunchCalibration, TheLineNamesEveryPartWithItsUnit) {
    record::Calibration full = calibration({1.0, 1.6});
    full.exchanges = {{"mpi", "host", 1'650}};
    std::string const line = calibration_line(full);
    for (char const* part :
         {"# noise floor", "timer 24 ns", "barrier 2.5", "p99 0.9", "up to 1.60 times", "\n# 8 B over mpi take 1.65"}) {
        EXPECT_THAT(line, HasSubstr(part));
    }
    EXPECT_EQ(calibration_line(std::nullopt), "");
}

// Differences 2 %, 1 % and 6 %; a cell of one round has none.
TEST(LaunchSummary, TheSelfComparisonIsOverCellsThatHaveOne) {
    LaunchSummary summary;
    summary.add(cell("a", 1.02));
    summary.add(cell("b", 0.99));
    summary.add(cell("c", 0.94));
    summary.add(cell("d", std::nullopt));
    auto const compared = summary.self_comparison();
    ASSERT_TRUE(compared.has_value());
    EXPECT_EQ(compared->cells, 3U);
    EXPECT_NEAR(compared->median, 0.02, 1e-12);
    EXPECT_NEAR(compared->largest, 0.06, 1e-12);
    EXPECT_EQ(compared->largest_cell, "c");
    EXPECT_THAT(summary.text(), HasSubstr("# repeatability: odd and even rounds differ by 2 % (worst cell 6 %)\n"));
}

TEST(LaunchSummary, FlagsAreCounted) {
    LaunchSummary summary;
    EXPECT_EQ(summary.text(), "");
    EXPECT_FALSE(summary.self_comparison().has_value());
    summary.add(cell("a", std::nullopt, {"drift", "step"}));
    summary.add(cell("b", std::nullopt, {"drift"}));
    record::Record tiny = cell("c", std::nullopt);
    tiny.result.below_floor = true;
    summary.add(tiny);
    record::Record hot = cell("d", std::nullopt);
    hot.result.throttled = true;
    summary.add(hot);
    EXPECT_THAT(summary.text(), HasSubstr("flagged drift: 2 cells"));
    EXPECT_THAT(summary.text(), HasSubstr("flagged step: 1 cell\n"));
    EXPECT_THAT(summary.text(), HasSubstr("too short for the clock to be compared: 1 cell\n"));
    EXPECT_THAT(summary.text(), HasSubstr("quota of processor time used up): 1 cell\n"));
}

TEST(LaunchSummary, CellsWithoutAnIntervalAreNamedWithWhatToDo) {
    record::Record sure = cell("a", std::nullopt);
    sure.result.time.median_low = 1;
    LaunchSummary summary;
    summary.add(sure);
    EXPECT_THAT(summary.text(), Not(HasSubstr("interval")));
    summary.add(cell("b", std::nullopt));
    EXPECT_THAT(summary.text(),
                HasSubstr("# fewer than 6 samples, so no interval (raise --time-limit or -i): 1 cell\n"));
}

TEST(LaunchSummary, WhatWasCheckedIsSaid) {
    LaunchSummary summary;
    EXPECT_TRUE(summary.all_checked());
    record::Record checked = cell("a", std::nullopt);
    checked.result.validation.verdict = record::Verdict::passed;
    checked.result.validation.timed_checked = 6;
    checked.result.time.samples = 100;
    checked.result.iterations_per_sample = 16;
    summary.add(checked);
    EXPECT_THAT(summary.text(),
                HasSubstr("# bytes checked before and after timing, and in 6 of 1600 timed iterations\n"));
    EXPECT_TRUE(summary.all_checked());
    record::Record unchecked = cell("b", std::nullopt);
    unchecked.result.validation.verdict = record::Verdict::off;
    summary.add(unchecked);
    EXPECT_THAT(summary.text(), HasSubstr("# no byte checked: 1 cell\n"));
    EXPECT_FALSE(summary.all_checked());
}

TEST(LaunchSummary, RanksAreNamedThatAreSuspectsInATenthOfTheCells) {
    auto const summarized = [](int cells) {
        LaunchSummary summary;
        for (int i = 0; i < cells; ++i) {
            record::Record each = cell("a", std::nullopt);
            if (i == 0) {
                each.result.suspects = {{3, record::Suspect::Kind::delayed, 9000, 100}};
            }
            summary.add(each);
        }
        return summary.text();
    };
    EXPECT_THAT(summarized(10), HasSubstr("# rank 3 is delayed: 1 of 10 cells\n"));
    EXPECT_THAT(summarized(11), Not(HasSubstr("rank 3")));
}

TEST(LaunchSummary, BuffersAreNamedOfWhichATenthLiesOnAnotherNumaNode) {
    auto const summarized = [](std::uint64_t elsewhere) {
        LaunchSummary summary;
        record::Record each = cell("a", std::nullopt);
        each.host_pages = record::HostPages{elsewhere == 0 ? 0U : 40U, elsewhere, 0};
        summary.add(each);
        return summary.text();
    };
    EXPECT_THAT(summarized(4), HasSubstr("# buffers on another NUMA node than their rank: 1 cell\n"));
    EXPECT_THAT(summarized(3), Not(HasSubstr("NUMA")));
    EXPECT_THAT(summarized(0), Not(HasSubstr("NUMA"))) << "no page was looked at";
}

}  // namespace
}  // namespace dlmb::run

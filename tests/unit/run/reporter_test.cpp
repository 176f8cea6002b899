// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/reporter.hpp"
#include "patterns/collective/collective.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace dlmb::run {
namespace {

using testing::HasSubstr;

/// A launch that writes to a file, and what it prints.
class ReporterWithFile : public testing::Test {
protected:
    ReporterWithFile() {
        options.results = folder / "results.jsonl";
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        reporter.emplace(options, collective::type(), record::sample_launch(), true);
    }

    record::TemporaryFolder const folder;
    Options options;
    std::optional<Reporter> reporter;
};

TEST_F(ReporterWithFile, CountsAsFinishedWhatResumeDoesNotRunAgain) {
    for (int i = 0; i < 3; ++i) {
        reporter->resumed(nullptr);
    }
    record::Record failed = record::sample_cell();
    failed.cell_id = "of another";
    failed.result.status = record::Status::failed;
    reporter->cell(record::sample_cell(), "");
    reporter->cell(failed, "");
    reporter->cell(record::sample_skipped_cell(), "");
    measure::HangReport report{"a cell", "round 1", ""};
    report.signal = SIGTERM;
    reporter->hang(report, 0, "node");
    reporter.reset();
    (void)testing::internal::GetCapturedStdout();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(" 4 cells of the results file are finished"));
}

TEST_F(ReporterWithFile, PrintsEveryLineOfALaunchWhoseFileIsRemovedMeanwhile) {
    reporter->cell(record::sample_cell(), "");
    std::filesystem::remove(*options.results);
    EXPECT_EQ(reporter->finish(), exit_output);
    reporter.reset();
    std::string const output = testing::internal::GetCapturedStdout();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the file was removed during the launch"));
    for (char const* kind : {"launch", "cell", "end"}) {
        EXPECT_THAT(output, HasSubstr(std::string("DLMB-UNSAVED {\"kind\":\"") + kind + '"'));
    }
    EXPECT_THAT(output, HasSubstr("DLMB_RESULT: FAIL")) << "as the exit code says";
    EXPECT_FALSE(std::filesystem::exists(*options.results));
}

TEST_F(ReporterWithFile, PrintsTheLineOfAHangBehindAFileThatTookNoMore) {
    std::filesystem::remove(*options.results);
    reporter->cell(record::sample_cell(), "");
    record::Record next = record::sample_cell();
    next.cell_id = "the next one";
    reporter->expect("a cell", next);
    reporter->hang({"a cell", "round 1", ""}, 0, "node");
    std::string const output = testing::internal::GetCapturedStdout();
    (void)testing::internal::GetCapturedStderr();
    EXPECT_THAT(output, testing::ContainsRegex("DLMB-UNSAVED [^\n]*the next one[^\n]*\"status\":\"timeout\""));
}

std::string said_of(bool checked) {
    testing::internal::CaptureStdout();
    Reporter reporter(Options{}, collective::type(), record::sample_launch(), true);
    record::Record cell = record::sample_cell();
    cell.result.validation.verdict = checked ? record::Verdict::passed : record::Verdict::off;
    reporter.resumed(&cell);
    EXPECT_EQ(reporter.finish(), exit_ok);
    return testing::internal::GetCapturedStdout();
}

TEST(Reporter, DoesNotPassWhatNobodyHasCheckedInAnEarlierLaunchEither) {
    EXPECT_THAT(said_of(true), HasSubstr("DLMB_RESULT: PASS\n"));
    EXPECT_THAT(said_of(false), HasSubstr("1 already in the results file, 1 of these unchecked\n"));
    EXPECT_THAT(said_of(false), HasSubstr("DLMB_RESULT: UNCHECKED\n"));
}

/// Output and exit code of a launch with these cells.
std::pair<std::string, int> printed(Options const& options, std::vector<record::Record> const& cells) {
    testing::internal::CaptureStdout();
    int code = 0;
    {
        Reporter reporter(options, collective::type(), record::sample_launch(), true);
        for (record::Record const& cell : cells) {
            reporter.cell(cell, "a point");
        }
        reporter.rows();
        code = reporter.finish();
    }
    return {testing::internal::GetCapturedStdout(), code};
}

TEST(Reporter, HasAWordOfItsOwnWhereEverythingWasSkipped) {
    Options options;
    options.figures = true;
    auto const [skipped, nothing_ran] = printed(options, {record::sample_skipped_cell()});
    EXPECT_THAT(skipped, testing::EndsWith("# cells: 1 skipped\nDLMB_RESULT: SKIPPED\n"));
    EXPECT_EQ(nothing_ran, exit_nothing_ran);
    auto const [both, ok] = printed(options, {record::sample_skipped_cell(), record::sample_cell()});
    EXPECT_THAT(both, testing::EndsWith("DLMB_RESULT: PASS\n"));
    EXPECT_EQ(ok, exit_ok);
}

TEST(Reporter, MarksTheLinesForScriptsWhereReadersKnowRowsAndCommentsOnly) {
    for (TableLayout const layout : {TableLayout::osu, TableLayout::nccl}) {
        Options options;
        options.layout = layout;
        options.figures = true;
        std::string const text = printed(options, {record::sample_cell()}).first;
        EXPECT_THAT(text, HasSubstr("\n# DLMB-FOM "));
        EXPECT_THAT(text, testing::EndsWith("\n# DLMB_RESULT: PASS\n"));
    }
}

// Under mpirun standard error is a pipe, as it is here.
TEST(Progress, IsALineEveryTenSecondsWhereStandardErrorIsNoTerminal) {
    constexpr Nanoseconds second = 1'000'000'000;
    Nanoseconds now = 0;
    testing::internal::CaptureStderr();
    {
        ProgressLine progress(true, "dlmb_x", [&] { return now; });
        progress.show("measuring 3 cells, up to 30 s");
        now = 9 * second;
        progress.still();
        now = 10 * second;
        progress.still();
        now = 11 * second;
        progress.show("measuring 2 cells, up to 20 s");
        now = 20 * second;
        progress.still();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "dlmb_x: measuring 3 cells, up to 30 s\ndlmb_x: measuring 2 cells, up to 20 s\n");
    testing::internal::CaptureStderr();
    {
        ProgressLine others(false, "dlmb_x", [&] { return now; });
        others.show("nothing");
        now += 60 * second;
        others.still();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "rank 0 speaks for all";
}

TEST(Progress, SaysHowLongALaunchMayTake) {
    measure::RunnerOptions options;  // 10 s per cell
    EXPECT_EQ(length_of(2, options), "");
    EXPECT_EQ(length_of(24, options), "may take up to 4 min: 24 cells, each up to 10 s (--time-limit)");
    EXPECT_EQ(length_of(2000, options), "may take up to 5.6 h: 2000 cells, each up to 10 s (--time-limit)");
    EXPECT_EQ(at_most(2, options), ", up to 20 s");
    options.iterations = 100;
    EXPECT_EQ(length_of(24, options), "") << "nothing limits it";
    EXPECT_EQ(at_most(24, options), "");
}

TEST(Reporter, SaysOnceWhatFollowsFromAModel) {
    std::vector<SweepPoint> points(3);
    points[0].derived = points[1].derived = "--model llama: --hidden 64";
    points[2].derived = "--model llama: --hidden 32";
    testing::internal::CaptureStdout();
    Reporter(Options{}, collective::type(), record::sample_launch(), true).expect_points(points);
    EXPECT_THAT(testing::internal::GetCapturedStdout(),
                testing::EndsWith("# --model llama: --hidden 64\n# --model llama: --hidden 32\n"));
}

}  // namespace
}  // namespace dlmb::run

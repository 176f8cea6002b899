// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/reporter.hpp"
#include "patterns/collective/collective.hpp"
#include "tests/unit/record/sample_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <unistd.h>

namespace dlmb::app {
namespace {

using testing::HasSubstr;

TEST(Reporter, CountsAsFinishedWhatResumeDoesNotRunAgain) {
    auto const folder = std::filesystem::temp_directory_path() / ("dlmb_reporter_test." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    Options options;
    options.results = folder / "results.jsonl";
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    {
        Reporter reporter(options, collective::type(), record::sample_launch(), true);
        for (int i = 0; i < 3; ++i) {
            reporter.resumed(nullptr);
        }
        record::Record failed = record::sample_cell();
        failed.cell_id = "of another";
        failed.result.status = measure::Status::failed;
        reporter.cell(record::sample_cell(), "");
        reporter.cell(failed, "");
        reporter.cell(record::sample_skipped_cell(), "");
        measure::HangReport report{"a cell", "round 1", ""};
        report.signal = SIGTERM;
        reporter.hang(report, 0, "node");
    }
    (void)testing::internal::GetCapturedStdout();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(" 4 cells of the results file are finished"));
    std::filesystem::remove_all(folder);
}

std::string said_of(bool checked) {
    testing::internal::CaptureStdout();
    Reporter reporter(Options{}, collective::type(), record::sample_launch(), true);
    record::Record cell = record::sample_cell();
    cell.result.validation.verdict = checked ? measure::Verdict::passed : measure::Verdict::off;
    reporter.resumed(&cell);
    EXPECT_EQ(reporter.finish(), exit_ok);
    return testing::internal::GetCapturedStdout();
}

TEST(Reporter, DoesNotPassWhatNobodyHasCheckedInAnEarlierLaunchEither) {
    EXPECT_THAT(said_of(true), HasSubstr("DLMB_RESULT: PASS\n"));
    EXPECT_THAT(said_of(false), HasSubstr("1 already in the results file, 1 of these unchecked\n"));
    EXPECT_THAT(said_of(false), HasSubstr("DLMB_RESULT: UNCHECKED\n"));
}

TEST(Reporter, PrintsEveryLineOfALaunchWhoseFileIsRemovedMeanwhile) {
    auto const folder = std::filesystem::temp_directory_path() / ("dlmb_removed_test." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    Options options;
    options.results = folder / "results.jsonl";
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = 0;
    {
        Reporter reporter(options, collective::type(), record::sample_launch(), true);
        reporter.cell(record::sample_cell(), "");
        std::filesystem::remove(*options.results);
        code = reporter.finish();
    }
    std::string const output = testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, exit_output);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the file was removed during the launch"));
    for (char const* kind : {"launch", "cell", "end"}) {
        EXPECT_THAT(output, HasSubstr(std::string("DLMB-UNSAVED {\"kind\":\"") + kind + '"'));
    }
    EXPECT_FALSE(std::filesystem::exists(*options.results));
    std::filesystem::remove_all(folder);
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
}  // namespace dlmb::app

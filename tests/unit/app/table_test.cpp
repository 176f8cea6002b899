// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/table.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace dlmb::app {
namespace {

/// 3 MB through the busiest rank in 2 ms: 1.5 GB/s.
record::Cell example() {
    record::Cell cell;
    cell.cell_id = "backend=mpi/pattern=moe_alltoall";
    cell.identity.backend = "mpi";
    cell.identity.method = "alltoallv";
    cell.identity.memory = "host";
    cell.traffic.busiest_rank_bytes = 3'000'000;
    cell.traffic.largest_total_bytes = 4'000'000;
    cell.traffic.wire_bytes = 6'000'000;
    cell.result.time.median = 2e6;
    cell.result.time.mean = 2.5e6;
    cell.result.time.samples = 100;
    cell.result.validation.verdict = measure::Verdict::passed;
    return cell;
}

TEST(Table, OwnLayoutShowsMedianInMicrosecondsAndBusBandwidth) {
    std::string const row = make_table(Layout::dlmb)->row(example(), "mixtral-8x7b");
    EXPECT_NE(row.find("2000.000"), std::string::npos) << row;
    EXPECT_NE(row.find("1.500"), std::string::npos) << row;
    EXPECT_NE(row.find("ok"), std::string::npos) << row;
}

TEST(Table, OsuLayoutHasSizeFirstAndValueSecond) {
    std::string const row = make_table(Layout::osu)->row(example(), "");
    EXPECT_TRUE(std::regex_search(row, std::regex("\n3000000 +2500\\.000 "))) << row;  // osu's average is the mean
}

TEST(Table, NcclLayoutHasAlgorithmThenBusBandwidth) {
    std::string const row = make_table(Layout::nccl)->row(example(), "");
    EXPECT_TRUE(std::regex_search(row, std::regex(" 4000000 .* 2\\.00 +1\\.50 +0\n"))) << row;
}

TEST(Table, ASkippedCellIsACommentWithItsReason) {
    record::Cell cell = example();
    cell.result.status = measure::Status::skipped;
    cell.result.reason = "no CUDA device";
    for (Layout const layout : {Layout::dlmb, Layout::osu, Layout::nccl}) {
        std::string const row = make_table(layout)->row(cell, "");
        EXPECT_EQ(row.front(), '#');
        EXPECT_NE(row.find("no CUDA device"), std::string::npos);
    }
}

TEST(FigureOfMerit, MatchesTheDocumentedExpressionAndComesOnlyFromGoodCells) {
    // ^DLMB-FOM (\S+) (\S+) ([0-9]+\.[0-9]+) (\S+)$ is what scrapers use (measurement page, section 16)
    std::regex const documented(R"(DLMB-FOM (\S+) (\S+) ([0-9]+\.[0-9]+) (\S+))");
    std::string const text = figure_of_merit(example());
    EXPECT_TRUE(std::regex_match(text.substr(0, text.size() - 1), documented)) << text;
    record::Cell failed = example();
    failed.result.status = measure::Status::invalid;
    EXPECT_EQ(figure_of_merit(failed), "");
}

}  // namespace
}  // namespace dlmb::app

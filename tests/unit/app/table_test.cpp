// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tables/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace dlmb::app {
namespace {

/// 3 MB through the busiest rank in 2 ms: 1.5 GB/s.
record::Record example() {
    record::Record cell;
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

/// An allgather of 4 ranks with 1 MiB from each in 2 ms, as dlmb_collective records it.
record::Record gather(char const* size, char const* in_place = "off") {
    record::Record cell = example();
    cell.identity.parameters = {{"operation", "allgather"}, {"message-size", size}, {"element", "float"},
                                {"reduction", "sum"},       {"in-place", in_place}, {"root", "0"}};
    cell.identity.world = {4, 4};
    cell.traffic.largest_total_bytes = 4194304;
    cell.traffic.busiest_rank_bytes = 3145728;
    return cell;
}

TEST(Table, OwnLayoutHasOneRowForOnePhase) {
    record::Record cell = example();
    cell.result.phases = {{"only", cell.result.time}};
    cell.phases = {{"only", cell.traffic}};
    std::string const row = make_table(Layout::dlmb)->row(cell, "");
    EXPECT_EQ(std::count(row.begin(), row.end(), '\n'), 1) << row;
    cell.result.phases.push_back({"other", cell.result.time});
    cell.phases.push_back({"other", cell.traffic});
    std::string const rows = make_table(Layout::dlmb)->row(cell, "");
    EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 3) << rows;
}

// OSU 7: "%-10s%*s%*s%*s%*s" with 20, 20, 20 and 12; values with two decimals.
TEST(Table, OsuLayoutHasTheColumnsOfOsu) {
    auto const table = make_table(Layout::osu);
    EXPECT_NE(table->header({}, "collective")
                  .find("\n# Size         Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations\n"),
              std::string::npos);
    EXPECT_EQ(table->row(gather("1048576"), "operation=allgather 1 M"),
              "# operation=allgather mpi/alltoallv host\n"
              "1048576                2500.00                0.00                0.00         100\n");
}

TEST(Table, OsuLayoutSaysASeriesOnce) {
    auto const table = make_table(Layout::osu);
    EXPECT_EQ(table->row(gather("1024"), "operation=allgather 1 K").front(), '#');
    EXPECT_EQ(table->row(gather("2048"), "operation=allgather 2 K").substr(0, 10), "2048      ");
    EXPECT_EQ(table->row(gather("1024"), "operation=alltoall 1 K").front(), '#');
}

TEST(Table, OsuLayoutTakesTheBusiestRankWhereThereIsNoMessageSize) {
    std::string const row = make_table(Layout::osu)->row(example(), "");
    EXPECT_TRUE(std::regex_search(row, std::regex("\n3000000 +2500\\.00 "))) << row;  // osu's average is the mean
}

// nccl-tests 2.19: size %12, count %12, type %8, redop %6, root %6, then time %7, algbw %6, busbw %6, #wrong.
// 4 MiB / 2 ms = 2.10 GB/s, three quarters of it 1.57; count is what one rank sends.
TEST(Table, NcclLayoutFillsTheHalfThatWasMeasured) {
    auto const table = make_table(Layout::nccl);
    std::string const heading = "# operation=allgather mpi/alltoallv host\n";
    std::string const size = "     4194304        262144     float    none      -1";
    std::string const figures = "   2000.0    2.10    1.57      0";
    std::string const nothing = "      N/A     N/A     N/A    N/A";
    EXPECT_EQ(table->row(gather("1048576"), "operation=allgather 1 M"), heading + size + figures + nothing + "\n");
    EXPECT_EQ(table->row(gather("1048576", "on"), "operation=allgather 1 M"), size + nothing + figures + "\n");
}

TEST(Table, NcclLayoutNamesReductionAndRootWhereTheyCount) {
    record::Record cell = gather("1048576");
    auto const row = [&](char const* operation) {
        cell.identity.parameters["operation"] = operation;
        return make_table(Layout::nccl)->row(cell, "");
    };
    EXPECT_NE(row("allreduce").find("   262144     float     sum      -1 "), std::string::npos);
    EXPECT_NE(row("broadcast").find("   262144     float    none       0 "), std::string::npos);
    EXPECT_NE(row("reduce_scatter").find("   262144     float     sum      -1 "),
              std::string::npos);  // 4 MiB / 4 ranks
}

TEST(Table, NcclLayoutShowsOtherTrafficAsBytes) {
    std::string const row = make_table(Layout::nccl)->row(example(), "");
    EXPECT_NE(row.find("     4000000       4000000      byte    none      -1   2000.0    2.00    1.50      0"),
              std::string::npos)
        << row;
}

// nccl-tests prints both lines, and scripts that watch it look for them. 1.573 GB/s in one row, 1.5 in the other.
TEST(Table, NcclLayoutEndsWithTheLinesThatScriptsLookFor) {
    auto const table = make_table(Layout::nccl);
    EXPECT_EQ(table->footer(), "");
    (void)table->row(gather("1048576"), "");
    (void)table->row(example(), "");
    EXPECT_EQ(table->footer(), "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.53643\n#\n");
    record::Record wrong = example();
    wrong.result.status = measure::Status::invalid;
    (void)table->row(wrong, "");
    EXPECT_NE(table->footer().find("# Out of bounds values : 1 FAILED\n"), std::string::npos);
}

TEST(Table, ASkippedCellIsACommentWithItsReason) {
    record::Record cell = example();
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
    record::Record failed = example();
    failed.result.status = measure::Status::invalid;
    EXPECT_EQ(figure_of_merit(failed), "");
}

}  // namespace
}  // namespace dlmb::app

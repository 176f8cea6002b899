// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/tables/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <regex>
#include <sstream>

namespace dlmb::run {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    cell.result.validation.verdict = record::Verdict::passed;
    return cell;
}

Options of_layout(TableLayout layout) {
    Options options;
    options.layout = layout;
    return options;
}

/// All that a table says of one cell, without its totals.
std::string shown(TableLayout layout, record::Record const& cell, std::string_view title) {
    auto const table = make_table(of_layout(layout));
    table->add(cell, title);
    return table->ready();
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(Table, OwnLayoutShowsMedianInMicrosecondsAndBusBandwidth) {
    std::string const row = shown(TableLayout::dlmb, example(), "mixtral-8x7b");
    EXPECT_THAT(row, HasSubstr(" 2000 "));
    EXPECT_THAT(row, HasSubstr("1.500"));
    EXPECT_THAT(row, HasSubstr("ok"));
}

TEST(Table, OwnLayoutShowsFourDigitsOneUnitPerColumnAndNoIntervalWhereThereIsNone) {
    record::Record cell = example();
    cell.result.time.median = 1'234'567;
    cell.result.time.samples = 4;
    auto const words = [](std::string const& line) {
        std::istringstream stream(line);
        return std::vector<std::string>{std::istream_iterator<std::string>(stream), {}};
    };
    std::vector<std::string> lines = lines_of(shown(TableLayout::dlmb, cell, "mixtral-8x7b"));
    ASSERT_EQ(lines.size(), 4U) << "names, units, label, figures";
    EXPECT_THAT(words(lines[0]), testing::IsSupersetOf({"median", "low", "high", "p95", "busbw"}));
    EXPECT_THAT(words(lines[1]), testing::IsSupersetOf({"[us]", "[us]", "[us]", "[us]", "[GB/s]"}));
    EXPECT_THAT(lines[3], testing::ContainsRegex("1235 +- +- +- +2.430 +4 ")) << "3 MB in 1234.567 us";
    cell.result.time.median_low = 1'200'000;
    cell.result.time.median_high = 1'300'000;
    EXPECT_THAT(shown(TableLayout::dlmb, cell, "mixtral-8x7b"), testing::ContainsRegex("1235 +1200 +1300 +- +2.430 "));
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

TEST(Table, RowsStandInTheOrderThatWasAskedForNotOfWhoFinishedFirst) {
    auto const of = [](char const* backend) {
        record::Record cell = gather("8");
        cell.cell_id = backend;
        cell.identity.backend = backend;
        return cell;
    };
    for (TableLayout const layout : {TableLayout::dlmb, TableLayout::osu, TableLayout::nccl}) {
        auto const table = make_table(of_layout(layout));
        for (char const* const backend : {"mpi", "ucx", "nccl"}) {
            table->expect_cell(backend);
        }
        for (char const* const backend : {"nccl", "ucx", "mpi"}) {
            table->add(of(backend), "operation=allgather 8 B");
        }
        std::string const text = table->ready() + table->footer();
        EXPECT_LT(text.find("mpi"), text.find("ucx")) << text;
        EXPECT_LT(text.find("ucx"), text.find("nccl")) << text;
    }
}

TEST(Table, OwnLayoutHasOneRowForOnePhase) {
    record::Record cell = example();
    cell.result.phases = {{"only", cell.result.time}};
    cell.phases = {{"only", cell.traffic}};
    EXPECT_EQ(lines_of(shown(TableLayout::dlmb, cell, "")).size(), 4U) << "names, units, label and figures";
    cell.result.phases.push_back({"other", cell.result.time});
    cell.phases.push_back({"other", cell.traffic});
    EXPECT_EQ(lines_of(shown(TableLayout::dlmb, cell, "")).size(), 6U);
}

TEST(Table, OwnLayoutFitsOnALineWhateverTheLabels) {
    for (std::size_t const length : {0U, 10U, 30U, 60U, 200U}) {
        for (char const* const method : {"copy", "algorithm:allreduce=ring_segmented:segment=32K"}) {
            record::Record cell = example();
            cell.identity.method = method;
            cell.result.phases = {{"count_exchange", cell.result.time}, {"dispatch", cell.result.time}};
            cell.phases = {{"count_exchange", cell.traffic}, {"dispatch", cell.traffic}};
            std::string const title(length, 't');
            std::string const text = shown(TableLayout::dlmb, cell, title);
            EXPECT_THAT(text, HasSubstr(title));
            EXPECT_THAT(text, HasSubstr(method));
            for (std::string const& line : lines_of(text)) {
                EXPECT_TRUE(line.size() <= 80 || line.starts_with("# t")) << line;
            }
        }
    }
}

TEST(Table, HeadingsAreCommentsAlsoWhereLabelsHaveALineOfTheirOwn) {
    record::Record cell = example();
    cell.identity.method = "algorithm:allreduce=ring_segmented:segment=32K:and_longer";
    std::vector<std::string> const lines = lines_of(shown(TableLayout::dlmb, cell, std::string(100, 't')));
    ASSERT_GE(lines.size(), 2U);
    EXPECT_TRUE(lines[0].starts_with("#")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("#")) << lines[1];
}

TEST(Table, OwnLayoutShowsAllColumnsOnRequest) {
    Options options;
    options.columns = TableColumns::all;
    auto const table = make_table(options);
    record::Record cell = example();
    cell.result.figures = {{"involuntary_switches", 12.345, "per second", record::Better::lower, "samples"}};
    table->add(cell, std::string(100, 't'));
    std::vector<std::string> const lines = lines_of(table->ready());
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[3], "# involuntary_switches: 12.35 per second, of its samples");
    for (char const* const name : {"# traffic", "phase", "p95", "samples", "bytes"}) {
        EXPECT_THAT(lines[0], HasSubstr(name)) << name;
    }
    EXPECT_EQ(lines[0].size(), lines[2].size());
}

TEST(Table, ShowsWhatWasBesideTheRanksWhereSomethingWas) {
    EXPECT_THAT(shown(TableLayout::dlmb, example(), "t"), Not(HasSubstr("beside")));
    record::Record loaded = example();
    loaded.identity.beside = "memory";
    loaded.result.figures = {{"load_rate", 5.25e9, "B/s", record::Better::higher, "samples"},
                             {"load_slowdown", 1.5, "of its rate alone", record::Better::lower, "samples"}};
    Options options;
    options.loads = {"", "memory"};
    auto const table = make_table(options);
    table->add(example(), "t");
    table->add(loaded, "t");
    std::string const text = table->ready();
    EXPECT_THAT(text, HasSubstr(" beside"));
    EXPECT_THAT(text, HasSubstr(" none "));
    EXPECT_THAT(text, HasSubstr(" memory "));
    EXPECT_THAT(text, HasSubstr("# the copying beside it: 5.250 GB/s per rank, alone 1.50 times as fast\n"));
    EXPECT_THAT(shown(TableLayout::osu, loaded, "t"), HasSubstr(" host beside memory, --timing"));
    loaded.result.figures.pop_back();
    EXPECT_THAT(shown(TableLayout::dlmb, loaded, "t"), HasSubstr("beside it: 5.250 GB/s per rank\n"))
        << "how fast it is alone is not known";
}

TEST(Table, OwnLayoutSaysItsColumnsAgainOnlyWhenTheyChange) {
    auto const table = make_table({});
    table->expect({"", {}, {}, "operation=allreduce 1024 K"});
    table->add(gather("8"), "operation=allreduce 8 B");
    EXPECT_EQ(lines_of(table->ready()).size(), 4U) << "names, units, label, figures";
    table->add(gather("1048576"), "operation=allreduce 1024 K");
    EXPECT_EQ(lines_of(table->ready()).size(), 2U) << "another label";
    table->add(gather("1048576"), "operation=allreduce 1024 K");
    EXPECT_EQ(lines_of(table->ready()).size(), 1U);
    record::Record longer = gather("1048576");
    longer.identity.method = "algorithm:allreduce=ring_segmented:segment=32K";
    table->add(longer, "operation=allreduce 1024 K");
    EXPECT_EQ(lines_of(table->ready()).size(), 4U) << "the method now has a line of its own";
    EXPECT_EQ(table->footer(), "");
}

/// 640 messages of 1000 B in 2500 us: 256 MB/s, 256,000 per second.
record::Record windows(char const* operation) {
    record::Record cell = example();
    cell.identity.parameters = {{"operation", operation}, {"message-size", "1000"}};
    cell.statistics = {{"window_messages", 640}};
    return cell;
}

// osu_bw.c and osu_mbw_mr.c: the bytes of the messages over the mean, answers left out; fields of 20, two decimals.
TEST(Table, OsuLayoutHasBandwidthAndMessageRateInTheColumnsOfOsu) {
    EXPECT_TRUE(shown(TableLayout::osu, windows("bandwidth"), "")
                    .ends_with("\n# Size        Bandwidth (MB/s)\n1000                    256.00\n"));
    EXPECT_TRUE(shown(TableLayout::osu, windows("message_rate"), "")
                    .ends_with("\n# Size                    MB/s          Messages/s\n"
                               "1000                    256.00           256000.00\n"));
}

// osu_util.c, calculate_overlap: 2500 us with 2000 us of computation, and 1000 us alone: half is hidden.
TEST(Table, OsuLayoutHasTheOverlapInTheColumnsOfOsu) {
    record::Record cell = windows("allreduce");
    cell.statistics = {{"compute_us", 2000}, {"communication_us", 1000}};
    EXPECT_TRUE(shown(TableLayout::osu, cell, "")
                    .ends_with("\n# Size             Overall(us)         Compute(us)      Pure Comm.(us)          "
                               "Overlap(%)\n"
                               "1000                   2500.00             2000.00             1000.00               "
                               "50.00\n"));
    cell.statistics["compute_us"] = 1000;
    EXPECT_TRUE(shown(TableLayout::osu, cell, "").ends_with("  0.00\n")) << "never below 0";
}

constexpr char const* osu_names =
    "# Size         Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations\n";

// OSU 7: "%-10s%*s%*s%*s%*s" with 20, 20, 20 and 12; values with two decimals.
TEST(Table, OsuLayoutHasTheColumnsOfOsu) {
    EXPECT_EQ(shown(TableLayout::osu, gather("1048576"), "operation=allgather 1 M"),
              std::string("# operation=allgather mpi/alltoallv host, --timing : over samples of all ranks\n") +
                  osu_names + "1048576                2500.00                0.00                0.00         100\n");
}

TEST(Table, OsuLayoutShowsTheMeansOfRanksWhereTheDefinitionAveragesThem) {
    record::Record cell = gather("1048576");
    cell.identity.mode = "osu";
    cell.result.rank_means = record::RankMeans{1500, 1000, 2000};
    EXPECT_EQ(shown(TableLayout::osu, cell, ""),
              std::string("# mpi/alltoallv host, --timing osu: over ranks\n") + osu_names +
                  "1048576                   1.50                1.00                2.00         100\n");
}

TEST(Table, OsuLayoutCountsCallsAndNotSamples) {
    record::Record cell = gather("1048576");
    cell.result.iterations_per_sample = 20;
    EXPECT_TRUE(shown(TableLayout::osu, cell, "").ends_with("        2000\n"));
}

TEST(Table, OsuLayoutAddsPercentiles) {
    Options options = of_layout(TableLayout::osu);
    options.percentiles = {50, 99};
    auto const table = make_table(options);
    record::Record cell = gather("8");
    cell.result.samples_ns = {4000, 1000, 5000, 2000, 3000};  // too few for the 99th
    table->add(cell, "");
    std::string const text = table->ready();
    EXPECT_THAT(text, HasSubstr("    P50 Tail Lat(us)    P99 Tail Lat(us)\n"));
    EXPECT_TRUE(text.ends_with("                3.00                 N/A\n")) << text;
}

TEST(Table, LayoutsOfSuitesHaveOneTablePerMethod) {
    auto const table = make_table(of_layout(TableLayout::osu));
    auto const add = [&](char const* method, char const* size, char const* title) {
        record::Record cell = gather(size);
        cell.identity.method = method;
        table->add(cell, title);
    };
    auto const sizes = [](std::string const& text) {
        std::string found;
        for (std::string const& line : lines_of(text)) {
            found += line.starts_with("# Size") ? "S" : line.front() == '#' ? "#" : line.substr(0, 1);
        }
        return found;
    };
    add("blocking", "1024", "operation=allgather 1 K");
    add("nonblocking", "1024", "operation=allgather 1 K");
    EXPECT_EQ(sizes(table->ready()), "#S1") << "the other method waits";
    add("nonblocking", "2048", "operation=allgather 2 K");
    add("blocking", "2048", "operation=allgather 2 K");
    EXPECT_EQ(sizes(table->ready()), "2");
    add("blocking", "4096", "operation=alltoall 4 K");
    EXPECT_EQ(sizes(table->ready()), "#S12#S4") << "allgather is through";
    add("nonblocking", "8192", "operation=alltoall 8 K");
    add("nonblocking", "4096", "operation=alltoall 4 K");
    EXPECT_EQ(sizes(table->ready()), "");
    EXPECT_EQ(sizes(table->footer()), "#S48") << "by rising size";
    EXPECT_EQ(table->footer(), "");
}

TEST(Table, OsuLayoutTakesTheBusiestRankWhereThereIsNoMessageSize) {
    std::string const text = shown(TableLayout::osu, example(), "");
    EXPECT_TRUE(std::regex_search(text, std::regex("\n3000000 +2500\\.00 "))) << text;  // osu's average is the mean
}

// nccl-tests 2.19: size %12, count %12, type %8, redop %6, root %6, then time %7, algbw %6, busbw %6, #wrong.
// 4 MiB / 2 ms = 2.10 GB/s, three quarters of it 1.57; count is what one rank sends.
TEST(Table, NcclLayoutFillsTheHalfThatWasMeasured) {
    std::string const size = "     4194304        262144     float    none      -1";
    std::string const figures = "   2000.0    2.10    1.57      0";
    std::string const nothing = "      N/A     N/A     N/A    N/A";
    EXPECT_EQ(lines_of(shown(TableLayout::nccl, gather("1048576"), "")).back(), size + figures + nothing);
    EXPECT_EQ(lines_of(shown(TableLayout::nccl, gather("1048576", "on"), "")).back(), size + nothing + figures);
    EXPECT_EQ(lines_of(shown(TableLayout::nccl, gather("1048576"), "")).size(), 5U)
        << "what it is, three of names, figures";
}

TEST(Table, NcclLayoutJoinsBothHalvesWhereBothAreMeasured) {
    auto const table = make_table(of_layout(TableLayout::nccl));
    auto const cell = [](char const* size, char const* in_place) { return gather(size, in_place); };
    for (char const* const size : {"1048576", "2097152"}) {
        for (char const* const in_place : {"off", "on"}) {
            auto const& parameters = cell(size, in_place).identity.parameters;
            table->expect({"", {parameters.begin(), parameters.end()}, {}, ""});
        }
    }
    table->add(cell("1048576", "off"), "operation=allgather in-place=off 1 M");
    table->add(cell("2097152", "off"), "operation=allgather in-place=off 2 M");
    EXPECT_EQ(table->ready(), "") << "rows wait for their other half";
    table->add(cell("1048576", "on"), "operation=allgather in-place=on 1 M");
    std::string const figures = "   2000.0    2.10    1.57      0";
    std::vector<std::string> const lines = lines_of(table->ready());
    EXPECT_EQ(lines.front(), "# operation=allgather mpi/alltoallv host");
    EXPECT_EQ(lines.back(), "     4194304        262144     float    none      -1" + figures + figures);
    EXPECT_THAT(table->footer(), HasSubstr(figures + "      N/A     N/A     N/A    N/A\n"))
        << "2 MiB in place never came";
}

TEST(Table, NcclLayoutNamesReductionAndRootWhereTheyCount) {
    record::Record cell = gather("1048576");
    auto const row = [&](char const* operation) {
        cell.identity.parameters["operation"] = operation;
        return shown(TableLayout::nccl, cell, "");
    };
    EXPECT_THAT(row("allreduce"), HasSubstr("   262144     float     sum      -1 "));
    EXPECT_THAT(row("broadcast"), HasSubstr("   262144     float    none       0 "));
    EXPECT_THAT(row("reduce_scatter"), HasSubstr("   262144     float     sum      -1 "));  // 4 MiB / 4 ranks
}

TEST(Table, NcclLayoutShowsOtherTrafficAsBytes) {
    std::string const row = shown(TableLayout::nccl, example(), "");
    EXPECT_THAT(row, HasSubstr("     4000000       4000000      byte    none      -1   2000.0    2.00    1.50      0"));
}

// common.cu: with -C the column is called cputime, and bandwidths are those of the whole time.
TEST(Table, NcclLayoutShowsTheHostsTimeWhereItIsAskedFor) {
    Options options = of_layout(TableLayout::nccl);
    options.host_times = true;
    record::Record cell = gather("1048576");
    auto const lines = [&] {
        auto const table = make_table(options);
        table->add(cell, "");
        return lines_of(table->ready());
    };
    EXPECT_TRUE(lines().back().ends_with("-1      N/A    2.10    1.57      0      N/A     N/A     N/A    N/A"))
        << lines().back();
    cell.result.queueing = {1500.0, false};
    EXPECT_TRUE(lines().back().ends_with("-1     1.50    2.10    1.57      0      N/A     N/A     N/A    N/A"))
        << lines().back();
    EXPECT_THAT(lines().at(2), HasSubstr(" cputime "));
}

// nccl-tests prints both lines, and scripts that watch it look for them. 1.573 GB/s in one row, 1.5 in the other.
TEST(Table, NcclLayoutEndsWithTheLinesThatScriptsLookFor) {
    auto const table = make_table(of_layout(TableLayout::nccl));
    EXPECT_EQ(table->footer(), "");
    table->add(gather("1048576"), "");
    table->add(example(), "");
    EXPECT_TRUE(table->footer().ends_with("\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.53643\n#\n"));
    record::Record wrong = example();
    wrong.result.status = record::Status::invalid;
    table->add(wrong, "");
    EXPECT_THAT(table->footer(), HasSubstr("# Out of bounds values : 1 FAILED\n"));
}

TEST(Table, ASkippedCellIsACommentWithItsReason) {
    record::Record cell = example();
    cell.result.status = record::Status::skipped;
    cell.result.reason = "no CUDA device";
    for (TableLayout const layout : {TableLayout::dlmb, TableLayout::osu, TableLayout::nccl}) {
        std::string const row = shown(layout, cell, "");
        EXPECT_EQ(row.front(), '#');
        EXPECT_THAT(row, HasSubstr("no CUDA device"));
    }
}

TEST(Table, WhatIsSkippedForOneReasonIsOneLineAndANumber) {
    for (TableLayout const layout : {TableLayout::dlmb, TableLayout::osu, TableLayout::nccl}) {
        auto const table = make_table(of_layout(layout));
        std::string text;
        for (int point = 0; point < 15; ++point) {
            record::Record cell = gather("8");
            cell.cell_id = std::to_string(point);
            cell.result.status = record::Status::skipped;
            cell.result.reason = "no CUDA device";
            table->add(cell, "point " + cell.cell_id);
            text += table->ready();
        }
        text += table->footer();
        EXPECT_EQ(text, "# point 0" + std::string(layout == TableLayout::dlmb ? "" : " 8 B") +
                            " mpi alltoallv host: skipped: no CUDA device\n# skipped likewise: 14 cells of mpi\n");
    }
}

TEST(Table, OwnLayoutSaysHowManyBitPatternsSumsHadOrThatThereWereNone) {
    record::Record cell = example();
    EXPECT_THAT(shown(TableLayout::dlmb, cell, ""), Not(HasSubstr("bit")));
    cell.result.bit_patterns = 2;
    EXPECT_THAT(shown(TableLayout::dlmb, cell, ""), HasSubstr("had 2 different bit patterns"));
    cell.result.bit_patterns = 0;
    EXPECT_THAT(shown(TableLayout::dlmb, cell, ""), HasSubstr("--reproducible has no bits to compare"));
}

TEST(FigureOfMerit, MatchesTheDocumentedExpressionAndComesOnlyFromGoodCells) {
    // ^DLMB-FOM (\S+) (\S+) ([0-9]+\.[0-9]+) (\S+)$ is what scrapers use (measurement page, section 16)
    std::regex const documented(R"(DLMB-FOM (\S+) (\S+) ([0-9]+\.[0-9]+) (\S+))");
    std::string const text = figure_of_merit(example());
    EXPECT_TRUE(std::regex_match(text.substr(0, text.size() - 1), documented)) << text;
    record::Record failed = example();
    failed.result.status = record::Status::invalid;
    EXPECT_EQ(figure_of_merit(failed), "");
}

}  // namespace
}  // namespace dlmb::run

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/predict/measurements.hpp"

#include <gtest/gtest.h>

namespace dlmb::predict {
namespace {

constexpr std::string_view header = "system,nodes,ranks_per_node,gpu,collective,algorithm,bytes,median_us\n";

MeasurementTable read(std::string const& lines, bool needs_times = true) {
    return read_measurements(std::string{header} + lines, "table.csv", needs_times);
}

std::string complaint(std::string const& text, bool needs_times = true) {
    try {
        (void)read_measurements(text, "table.csv", needs_times);
        return "";
    } catch (UsageError const& error) {
        return error.what();
    }
}

TEST(Measurements, AreReadByTheNamesOfTheirColumns) {
    auto const table = read_measurements(
        "bytes,x,algorithm,collective,nodes,system\r\n0,,ring_ompi,allreduce,4x4x4,fugaku\r\n\r\n", "t", false);
    ASSERT_EQ(table.lines.size(), 1U);
    Measurement const& measurement = table.lines[0].measurement;
    EXPECT_EQ(table.lines[0].text, "0,,ring_ompi,allreduce,4x4x4,fugaku");
    EXPECT_EQ(measurement.topology, parse_nodes("4x4x4"));
    EXPECT_EQ(measurement.bytes, 0);
    EXPECT_EQ(table.lines[0].unusable, "");
}

TEST(Measurements, TellWhichLinesNoModelAnswers) {
    auto const table = read("a,4,1,no,allreduce,default_ompi,8,1\na,4,1,yes,allreduce,ring,8,1\na,4,1,no,scan,ring,8,"
                            "1\na,4,2,no,allreduce,ring,8,1\n");
    EXPECT_EQ(table.lines[0].unusable, "unknown algorithm");
    EXPECT_EQ(table.lines[1].unusable, "refused: buffers on GPUs are not modelled");
    EXPECT_EQ(table.lines[2].unusable, "refused: unknown collective");
    EXPECT_EQ(table.lines[3].unusable, "");
    EXPECT_EQ(table.lines[3].measurement.topology.ranks(), 8);
}

TEST(Measurements, OfBineTreesBetweenPairsOfNodesAreOfRecursiveDoubling) {
    auto const table = read(
        "a,2x2x1,1,no,allreduce,BINE-L-UTOFU-0-1,8,1\na,4x2x2,1,no,allreduce,BINE-L-UTOFU-0-1,8,1\na,2,1,no,allreduce,"
        "BINE-L-UTOFU-0-1,8,1\na,2x2x2,1,no,allgather,BINE-VEC_DOUBLING_BLOCKS-UTOFU-0-1,8,1\n"
        "a,2x2x1,2,no,allreduce,BINE-L-UTOFU-0-1,8,1\n");
    EXPECT_EQ(table.lines[0].measurement.algorithm, "RECDOUB-L-UTOFU-0-1");
    EXPECT_EQ(table.lines[0].unusable, "");
    for (std::size_t other : {1U, 2U, 3U, 4U}) {
        EXPECT_EQ(table.lines[other].unusable, "unknown algorithm") << other;
    }
}

TEST(Measurements, ThatAreDamagedAreRefusedWithTheLine) {
    for (std::string const line :
         {"a,4,1,no,allreduce,ring,8", "a,4,1,no,allreduce,ring,8,1,2", "a,4,1,no,allreduce,ring,-8,1",
          "a,4,1,no,allreduce,ring,8,nan", "a,4,1,no,allreduce,ring,8,0", "a,4,1,no,allreduce,ring,8,",
          "a,4,0,no,allreduce,ring,8,1", "a,4y,1,no,allreduce,ring,8,1", "a,,1,no,allreduce,ring,8,1",
          "a,4,1,no,allreduce,ring,99999999999999999999,1"}) {
        EXPECT_EQ(complaint(std::string{header} + "a,4,1,no,allreduce,ring,8,1\n" + line + "\n").substr(0, 18),
                  "table.csv: line 3:")
            << line;
    }
    for (std::string const text :
         {"", "\n", "system,nodes\n",
          "system,system,nodes,collective,algorithm,bytes,median_us\na,a,4,allreduce,ring,8,1\n"}) {
        EXPECT_EQ(complaint(text).substr(0, 17), "table.csv: line 1") << text;
    }
    EXPECT_NE(complaint("system,nodes,collective,algorithm,bytes\na,4,allreduce,ring,8\n").find("median_us"),
              std::string::npos);
    EXPECT_EQ(complaint("system,nodes,collective,algorithm,bytes\na,4,allreduce,ring,8\n", false), "");
    EXPECT_NE(complaint(std::string{header}), "") << "no line";
}

}  // namespace
}  // namespace dlmb::predict

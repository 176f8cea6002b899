// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/sizes/weights.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace dlmb {
namespace {

CountsTable read_counts(std::string const& text, CountsShape shape) {
    std::istringstream stream(text);
    return read_counts(stream, "counts.txt", shape);
}

std::string counts_refusal(std::string const& text, CountsShape shape) {
    return usage_error_of([&] { (void)read_counts(text, shape); });
}

std::vector<double> row(CountsTable const& table, std::size_t source) {
    auto const& values = table.row(source);
    return {values.begin(), values.end()};
}

TEST(CountsFile, ALinePerSource) {
    CountsTable const table = read_counts("# measured\n1 2 3\n\n4,5,6 # last\r\n", {2, 3});
    EXPECT_EQ(row(table, 0), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(row(table, 1), (std::vector<double>{4, 5, 6}));
}

TEST(CountsFile, OneLineServesEverySource) {
    CountsTable const table = read_counts("0.5 2\n", {8, 2});
    EXPECT_EQ(row(table, 7), (std::vector<double>{0.5, 2}));
}

TEST(CountsFile, ErrorsNameFileAndLine) {
    EXPECT_EQ(counts_refusal("1 2\n1 x\n", {2, 2}), "counts.txt:2: 'x': expected a count or weight of 0 or more");
    EXPECT_EQ(counts_refusal("1 -2\n", {2, 2}), "counts.txt:1: '-2': expected a count or weight of 0 or more");
    EXPECT_EQ(counts_refusal("# none\n1 2 3\n", {2, 2}), "counts.txt:2: 3 values, expected 2 (one per expert)");
    EXPECT_EQ(counts_refusal("0 0\n", {1, 2}), "counts.txt:1: no value above 0");
    EXPECT_EQ(counts_refusal("1 2\n1 2\n", {4, 2}),
              "counts.txt:2: 2 lines of values, expected 1 or 4 (one per source rank)");
    EXPECT_EQ(counts_refusal("", {4, 2}), "counts.txt:0: 0 lines of values, expected 1 or 4 (one per source rank)");
}

TEST(CountsFile, AMissingFileIsNamed) {
    EXPECT_THROW((void)read_counts_file("no/such/file", {1, 1}), UsageError);
}

}  // namespace
}  // namespace dlmb

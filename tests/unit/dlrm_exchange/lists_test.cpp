// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/model.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace dlmb::dlrm_exchange {
namespace {

constexpr NamedNumbers names[] = {{"primes", "2+3+5"}};
constexpr NumberRule whole_numbers{"--list", true, 1, 100, names};
constexpr NumberRule real{"--list", false, 0, 100, {}};
using Numbers = std::vector<Millionths>;

TEST(DlrmNumbers, AListIsJoinedByPlusAndMayRepeat) {
    EXPECT_EQ(read_numbers("7", whole_numbers), (Numbers{7 * one}));
    EXPECT_EQ(read_numbers("3+2x8+1", whole_numbers), (Numbers{3 * one, 8 * one, 8 * one, one}));
    EXPECT_EQ(read_numbers("primes", whole_numbers), (Numbers{2 * one, 3 * one, 5 * one}));
    EXPECT_EQ(read_numbers(" 3 + 2x8", whole_numbers), (Numbers{3 * one, 8 * one, 8 * one}));
    EXPECT_EQ(read_numbers("15.811706+0.5+0", real), (Numbers{15'811'706, 500'000, 0}));
}

TEST(DlrmNumbers, AFileHoldsTheSameEntries) {
    std::string const path = testing::TempDir() + "dlrm_numbers.txt";
    std::ofstream(path) << "# sizes\n1, 2x3\n\n4 # last\n";
    EXPECT_EQ(read_numbers("file:" + path, whole_numbers), (Numbers{one, 3 * one, 3 * one, 4 * one}));
    EXPECT_EQ(usage_error_of([] { (void)read_numbers("file:/nowhere", whole_numbers); }),
              "--list file:/nowhere: cannot be read");
    std::ofstream(path) << "# nothing\n";
    EXPECT_EQ(usage_error_of([&] { (void)read_numbers("file:" + path, whole_numbers); }),
              "--list file:" + path + ": holds no number");
}

TEST(DlrmNumbers, WhatIsNoListIsRefused) {
    for (char const* text : {"", "1+", "+1", "a", "1.5", "0", "101", "0x3", "x3", "2x", "-1", "1,2", "1 2", "2 x8",
                             "18446744073709551616"}) {
        EXPECT_NE(usage_error_of([&] {
                      (void)read_numbers(text, whole_numbers);
                  }).find("expected a whole number from 1 to 100"),
                  std::string::npos)
            << text;
    }
    EXPECT_NE(usage_error_of([] { (void)read_numbers("1.1234567", real); }).find("up to six decimals"),
              std::string::npos);
    EXPECT_NE(usage_error_of([] { (void)read_numbers("100.1", real); }).find("from 0 to 100"), std::string::npos);
    EXPECT_EQ(usage_error_of([] { (void)read_numbers("65536x1+1", whole_numbers); }),
              "--list '1': more than 65536 numbers");
}

TEST(DlrmDense, ALayerHasWeightsAndBiases) {
    EXPECT_EQ(mlp_parameters("3-2", "--top"), 3U * 2U + 2U);
    EXPECT_EQ(mlp_parameters("3-2-1", "--top"), 8U + 3U);
    EXPECT_EQ(mlp_parameters("394241", "--top"), 394'241U);
    EXPECT_EQ(mlp_parameters("0", "--top"), 0U);
    EXPECT_EQ(cross_parameters("0", 0), 0U);
    EXPECT_EQ(cross_parameters("2x3", 10), 2U * (2U * 10U * 3U + 10U));
}

TEST(DlrmDense, WhatIsNoMlpIsRefused) {
    for (char const* text : {"", "3-", "-3", "3-0-1", "a", "3-2x"}) {
        EXPECT_NE(usage_error_of([&] { (void)mlp_parameters(text, "--top"); }).find("--top"), std::string::npos)
            << text;
    }
    EXPECT_EQ(usage_error_of([] { (void)cross_parameters("3x5", 0); }),
              "--cross '3x5': needs the input width of the top MLP; give --top as widths, not as a count");
    EXPECT_NE(usage_error_of([] { (void)cross_parameters("3", 5); }).find("expected LAYERSxRANK"), std::string::npos);
}

TEST(DlrmTables, ListsThatDoNotFitTheTablesAreRefused) {
    EXPECT_EQ(refusal({{"rows", "1+2"}, {"tables", "3"}}),
              "--rows: 2 numbers for 3 tables; give 1 or 3, or change --tables");
    EXPECT_EQ(refusal({{"rows", "1+2"}, {"dim", "4+4+4"}}),
              "--rows: 2 numbers for 3 tables; give 1 or 3, or change --tables");
    EXPECT_EQ(refusal({{"rows", "dcnv2"}, {"pooling", "dcnv2"}}), "accepted");
    EXPECT_EQ(refusal({{"batch", "2147483648"}, {"dim", "1048576"}, {"tables", "65536"}}),
              "--batch 2147483648 with 65536 tables: more than 2^62 bytes; make --batch, --rows, --dim or --pooling "
              "smaller");
}

TEST(DlrmTables, WithoutAnyListThereAre26) {
    EXPECT_EQ(statistic(*make_dlrm({}, 2), 2, "mean_shards_rank"), 13);
    EXPECT_EQ(statistic(*make_dlrm({{"dim", "4+8+16+32"}}, 2), 2, "mean_shards_rank"), 2);
    EXPECT_EQ(statistic(*make_dlrm({{"tables", "6"}}, 2), 2, "mean_shards_rank"), 3);
}

}  // namespace
}  // namespace dlmb::dlrm_exchange

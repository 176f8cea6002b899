// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/options.hpp"
#include "common/base/error.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include <gtest/gtest.h>

namespace dlmb::app {
namespace {

using NcclWords = std::vector<std::string>;

NcclWords translate(NcclWords arguments, PatternType const& type = collective::type()) {
    arguments.insert(arguments.begin(), {"--cli", "nccl"});
    return without_nccl_letters(type, std::move(arguments));
}

std::string nccl_refusal(NcclWords const& arguments, PatternType const& type = collective::type()) {
    try {
        (void)translate(arguments, type);
    } catch (UsageError const& error) {
        return error.what();
    }
    return "accepted";
}

TEST(NcclCli, LettersBecomeOurOptions) {
    EXPECT_EQ(
        translate({"-n", "20", "-w", "5", "-o", "max", "-d", "half", "-r", "1"}),
        (NcclWords{"--iterations", "20", "--warmup", "5", "--reduction", "max", "--element", "half", "--root", "1"}));
    EXPECT_EQ(translate({"-c", "0"}), (NcclWords{"--validation", "off"}));
    EXPECT_EQ(translate({"-c", "1"}), (NcclWords{"--validation", "on"}));
}

TEST(NcclCli, SmallestAndLargestSizeBecomeARange) {
    EXPECT_EQ(translate({"-b", "8", "-e", "128M", "-f", "2"}), (NcclWords{"--message-size", "8:128M"}));
    EXPECT_EQ(translate({"-e", "1K", "--ranks", "2", "-b", "1K"}),
              (NcclWords{"--ranks", "2", "--message-size", "1K:1K"}));
}

TEST(NcclCli, ValuesMayBeGluedAsGetoptAllows) {
    EXPECT_EQ(translate({"-b8", "--maxbytes=64", "--iters=3"}),
              (NcclWords{"--iterations", "3", "--message-size", "8:64"}));
}

TEST(NcclCli, WhatOneProcessOnOneGpuDoesAnywayMayBeSaid) {
    EXPECT_EQ(translate({"-g", "1", "-t", "1", "-G", "0", "-n", "3"}), (NcclWords{"--iterations", "3"}));
}

TEST(NcclCli, OurLongOptionsStayAsTheyAre) {
    EXPECT_EQ(translate({"--operation", "alltoall", "--results=x.jsonl"}),
              (NcclWords{"--operation", "alltoall", "--results=x.jsonl"}));
}

TEST(NcclCli, WhatHasNoMeaningIsRefusedWithTheReason) {
    EXPECT_EQ(nccl_refusal({"-f", "3"}), "-f 3: sizes double here, only -f 2 is understood");
    EXPECT_EQ(nccl_refusal({"-b", "8"}), "-b MIN and -e MAX: one of them is missing; sizes run from MIN to MAX");
    EXPECT_EQ(nccl_refusal({"-g", "8"}), "-g 8: one process drives one GPU; start more with mpirun");
    EXPECT_EQ(nccl_refusal({"-G", "20"}), "-G 20: graph replay is --method graph of the nccl backend");
    EXPECT_EQ(nccl_refusal({"-n"}), "-n: its value is missing");
    EXPECT_EQ(nccl_refusal({"-n", "-w", "5"}), "-n: its value is missing");
}

// -i, -m and -x mean something else in nccl-tests than in our own letters, so they must not get through.
TEST(NcclCli, OsusLettersAreNotMixedIn) {
    EXPECT_EQ(nccl_refusal({"-i", "8"}), "-i: has no meaning here: sizes double (-f 2)");
    EXPECT_EQ(nccl_refusal({"-m", "8"}), "-m: has no meaning here: iterations are timed one by one");
    EXPECT_EQ(nccl_refusal({"-x", "8"}), "-x: not understood after --cli nccl; --help lists our options");
}

TEST(NcclCli, SizesAreRefusedWhereThePatternHasNone) {
    for (char const* letter : {"-b", "-e", "-f"}) {
        EXPECT_EQ(nccl_refusal({letter, "2"}, moe_alltoall::type()),
                  std::string(letter) + ": has no meaning here: the sizes come from the model's parameters");
    }
    EXPECT_EQ(nccl_refusal({"-o", "sum"}, moe_alltoall::type()),
              "-o: has no meaning here: moe_alltoall has no --reduction");
    EXPECT_EQ(nccl_refusal({"-d", "bf16"}, moe_alltoall::type()), "accepted");
}

}  // namespace
}  // namespace dlmb::app

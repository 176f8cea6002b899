// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What measured collectives say about each other.
#include "common/tools/predict/guidelines.hpp"

#include <gtest/gtest.h>

namespace dlmb::predict {
namespace {

TimedCall call(Collective collective, std::uint64_t bytes, double us, std::string setting = "one") {
    return {std::move(setting), collective, bytes, {us, 0.95 * us, 1.05 * us, true}};
}

std::vector<std::string> found(std::vector<TimedCall> const& calls, double least_excess = 0) {
    std::vector<std::string> texts;
    for (Violation const& violation : check_guidelines(calls, least_excess).violations) {
        texts.push_back(violation.guideline);
    }
    return texts;
}

using enum Collective;
using Texts = std::vector<std::string>;

TEST(Guidelines, HoldWhereEachCallIsAsFastAsItsMock) {
    std::vector<TimedCall> calls;
    for (Collective const collective :
         {allreduce, allgather, reduce_scatter, alltoall, bcast, reduce, gather, scatter}) {
        for (std::uint64_t const bytes : {1024U, 2048U, 4096U}) {
            calls.push_back(call(collective, bytes, 10.0 + 0.001 * static_cast<double>(bytes)));
        }
    }
    GuidelineCheck const check = check_guidelines(calls, 0);
    EXPECT_TRUE(check.violations.empty());
    // Of 8 collectives and 3 sizes: 14 patterns at each, 2 with a larger size, 2 with a smaller one that divides it.
    EXPECT_EQ(check.checks, 3 * 14U + 8 * 2U + 8 * 2U);
}

TEST(Guidelines, NameEachCombinationThatIsFaster) {
    EXPECT_EQ(found({call(allreduce, 64, 30), call(reduce, 64, 10), call(bcast, 64, 10)}),
              Texts{"allreduce <= reduce + bcast"});
    EXPECT_EQ(found({call(allreduce, 64, 30), call(reduce_scatter, 64, 10), call(allgather, 64, 10)}),
              Texts{"allreduce <= reduce_scatter + allgather"});
    EXPECT_EQ(found({call(bcast, 64, 30), call(scatter, 64, 10), call(allgather, 64, 10)}),
              Texts{"bcast <= scatter + allgather"});
    EXPECT_EQ(found({call(reduce, 64, 30), call(allreduce, 64, 10)}), Texts{"reduce <= allreduce"});
}

TEST(Guidelines, ALargerVectorAndASplitOneAreNotFaster) {
    EXPECT_EQ(found({call(alltoall, 64, 30), call(alltoall, 100, 10)}),
              Texts{"alltoall: a larger vector is not faster"});
    // 4 * 5 us < 30 us; 96 is no multiple of 64.
    EXPECT_EQ(found({call(alltoall, 16, 5), call(alltoall, 64, 30), call(alltoall, 96, 60)}),
              (Texts{"alltoall: a split vector is not faster", "alltoall: a split vector is not faster"}));
    EXPECT_TRUE(found({call(alltoall, 64, 5), call(alltoall, 96, 60)}).empty());
}

TEST(Guidelines, TakeTheNextLargerMockBelowTwiceTheSize) {
    std::vector<TimedCall> calls{call(reduce, 64, 30), call(allreduce, 96, 10)};
    GuidelineCheck const near = check_guidelines(calls, 0);
    ASSERT_EQ(near.violations.size(), 1U);
    EXPECT_EQ(near.violations.front().mock_bytes, 96U);
    calls[1].bytes = 128;
    EXPECT_EQ(check_guidelines(calls, 0).checks, 0U);
    calls[1].bytes = 32;  // a smaller vector says nothing
    EXPECT_EQ(check_guidelines(calls, 0).checks, 0U);
}

TEST(Guidelines, AreNotBrokenWhileTheIntervalsOverlapOrTheExcessIsSmall) {
    EXPECT_TRUE(found({call(reduce, 64, 10.9), call(allreduce, 64, 10)}).empty());  // 10.355 against up to 10.5
    EXPECT_FALSE(found({call(reduce, 64, 11.2), call(allreduce, 64, 10)}).empty());
    EXPECT_TRUE(found({call(reduce, 64, 11.2), call(allreduce, 64, 10)}, 0.05).empty());
}

TEST(Guidelines, CompareOnlyWithinOneSetting) {
    EXPECT_EQ(check_guidelines({call(reduce, 64, 30, "ring"), call(allreduce, 64, 10, "tree")}, 0).checks, 0U);
}

TEST(Guidelines, PutSureViolationsFirstAndTheLargestOfThemBefore) {
    TimedCall unsure = call(gather, 64, 900, "other");
    unsure.us.has_interval = false;
    auto const violations = check_guidelines({unsure, call(allgather, 64, 10, "other"), call(reduce, 64, 30),
                                              call(allreduce, 64, 10), call(scatter, 64, 90), call(bcast, 64, 5)},
                                             0)
                                .violations;
    ASSERT_GE(violations.size(), 3U);
    EXPECT_EQ(violations[0].guideline, "scatter <= bcast");
    EXPECT_EQ(violations.back().guideline, "gather <= allgather");
    EXPECT_NEAR(violations[0].excess(), 17, 1e-9);
    EXPECT_NEAR(violations[0].excess_low(), 0.95 * 90 / (1.05 * 5) - 1, 1e-9);
}

}  // namespace
}  // namespace dlmb::predict

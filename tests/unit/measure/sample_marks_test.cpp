// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From marks written by hand to the times of a sample.
#include "common/measure/sampling/phases.hpp"
#include "common/measure/sampling/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace dlmb::measure {
namespace {

/// What the reductions over ranks do.
SampleTimes times_of(std::vector<RankMarks> const& ranks) {
    LargestWords largest;
    largest.fill(std::numeric_limits<std::int64_t>::min());
    std::int64_t sum = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        LargestWords const words = largest_words(ranks[rank], static_cast<Rank>(rank));
        std::transform(words.begin(), words.end(), largest.begin(), largest.begin(),
                       [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
        sum += ranks[rank].done - ranks[rank].enter;
    }
    return sample_times(largest, sum, static_cast<int>(ranks.size()));
}

TEST(SampleTimes, FollowFromTheMarksOfAllRanks) {
    SampleTimes const times = times_of({{1000, 1010, 1100}, {1030, 1040, 1150}, {1005, 1015, 1095}});
    EXPECT_EQ(times.span, 1150 - 1000);
    EXPECT_EQ(times.max_rank, 1150 - 1030);
    EXPECT_EQ(times.last_arrival, 1150 - 1030);
    EXPECT_EQ(times.skew, 1030 - 1000);
    EXPECT_DOUBLE_EQ(times.imbalance_time, 120 / ((100 + 120 + 90) / 3.0));
    EXPECT_EQ(times.straggler, 1);
    EXPECT_EQ(times.first_enter, 1000);
}

TEST(SampleTimes, ARankThatArrivesLateCostsSpanAndNotItsOwnDuration) {
    SampleTimes const times = times_of({{0, 5, 100}, {60, 65, 100}});
    EXPECT_EQ(times.span, 100);
    EXPECT_EQ(times.max_rank, 100);  // the rank that waited
    EXPECT_EQ(times.straggler, 0);
    EXPECT_EQ(times.last_arrival, 40);
    EXPECT_EQ(times.skew, 60);
}

TEST(SampleTimes, OneStragglerAmongEightMovesTheSpanFully) {
    std::vector<RankMarks> ranks(8, {0, 10, 100});
    SampleTimes const before = times_of(ranks);
    ranks[5].done += 800;
    SampleTimes const after = times_of(ranks);
    EXPECT_EQ(after.span - before.span, 800);  // not 800 / 8
    EXPECT_EQ(after.max_rank - before.max_rank, 800);
    EXPECT_EQ(after.straggler, 5);
    EXPECT_DOUBLE_EQ(after.imbalance_time, 900 / 200.0);
}

TEST(SampleTimes, TimesOfACommonClockMayBeNegative) {
    SampleTimes const times = times_of({{-5000, -4990, -4900}, {-4980, -4970, -4890}});
    EXPECT_EQ(times.span, 110);
    EXPECT_EQ(times.skew, 20);
    EXPECT_EQ(times.first_enter, -5000);
}

TEST(SampleTimes, NothingThatTookNoTimeIsBalanced) {
    EXPECT_EQ(times_of({{7, 7, 7}, {7, 7, 7}}).imbalance_time, 1);
}

/// Two steps, which end in the order given.
class TwoSteps final : public CompiledPlan {
public:
    TwoSteps() : CompiledPlan(2) {}
    void end(StepId first, StepId last) {
        begin();
        mark(first);
        mark_last(last);
    }
    void launch() override {}
    void finish() override {}
};

TEST(CompiledPlan, CountsStepsAlsoWhereNobodyAsksForTheirMarks) {
    TwoSteps plan;
    plan.end(1, 0);
    EXPECT_EQ(plan.marks()[0].step, 1U);
    plan.keep_marks(false);
    plan.end(0, 1);
    EXPECT_EQ(plan.steps_done(), 2U);
    plan.keep_marks(true);
    plan.end(0, 1);
    EXPECT_EQ(plan.marks()[0].step, 0U);
}

TEST(CriticalPhase, IsTheOneThatTookLongestMostOften) {
    std::vector<std::string> const labels{"count", "dispatch", "combine"};
    auto const found =
        critical_phase(labels, std::vector<Nanoseconds>{1, 5, 4, 1, 2, 9, no_such_phase, 8, 7, no_such_phase, 3, 2});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->label, "dispatch");
    EXPECT_EQ(found->share, 0.75);
    EXPECT_FALSE(critical_phase(labels, {}));
}

}  // namespace
}  // namespace dlmb::measure

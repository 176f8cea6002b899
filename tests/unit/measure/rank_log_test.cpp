// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a rank or a link, read from the record: faults that sleep far longer than a busy machine delays.
#include "tests/unit/measure/contest_world.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::measure {
namespace {

using namespace testing;

constexpr std::chrono::milliseconds fault_time(20);
constexpr double fault_ns = 20e6;

CellResult measured(Fault const& fault, StartRequest start = StartRequest::automatic) {
    ContestSpec spec{.options = brief(), .candidates = {with(fault)}};
    spec.options.start = start;
    CellResult result = run(spec).at(0).at(0).result;
    EXPECT_EQ(result.status, Status::ok);
    return result;
}

/// Ranks by what they have most of, first.
std::vector<std::size_t> most_first(std::vector<double> const& values) {
    std::vector<std::size_t> ranks(values.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    return ranks;
}

Fault sleeps(std::vector<Rank> const& victims, std::uint64_t every, std::chrono::milliseconds time = fault_time) {
    Fault fault;
    fault.after = [=](Iteration const& iteration) {
        bool const victim = std::find(victims.begin(), victims.end(), iteration.plan.me) != victims.end();
        if (victim && iteration.number % every == 0) {
            std::this_thread::sleep_for(time);
        }
    };
    return fault;
}

TEST(RankTimes, ARankThatIsSlowToSendStandsOutByWhenItPosted) {
    Fault fault;
    fault.before = [](Iteration const& iteration) {
        if (iteration.plan.me == 2) {
            std::this_thread::sleep_for(fault_time);
        }
    };
    CellResult const result = measured(fault);
    EXPECT_EQ(most_first(result.ranks.posted_ns)[0], 2U);
    EXPECT_GE(result.ranks.posted_ns[2], fault_ns);
    EXPECT_GE(result.rank_median_ns[0], fault_ns);  // the others wait for it, and their durations name nobody
}

TEST(RankTimes, ARankThatIsSlowToFinishIsTheStragglerByAnyStart) {
    for (StartRequest const start : {StartRequest::barrier, StartRequest::window}) {
        CellResult const result = measured(sleeps({3}, 1), start);
        EXPECT_EQ(result.straggler.rank, 3);
        EXPECT_GE(result.time.min, fault_ns);
        EXPECT_GT(result.arrival.imbalance_time, 1);
        EXPECT_GE(result.arrival.last_arrival_ns, fault_ns);
        EXPECT_EQ(result.sync.method, start == StartRequest::window ? "window" : "barrier");
    }
}

TEST(RankTimes, AJitteryRankStandsOutByTheSpreadOfItsDurations) {
    CellResult const result = measured(sleeps({1}, 2, 5 * fault_time));  // far more than a busy machine adds
    EXPECT_EQ(most_first(result.ranks.spread_ns)[0], 1U);
}

TEST(RankTimes, TheTwoEndsOfASlowLinkStandOutByTheirDurationsAndNotByWhenTheyPosted) {
    CellResult const result = measured(sleeps({1, 3}, 1));
    std::vector<std::size_t> const slowest = most_first(result.rank_median_ns);
    EXPECT_EQ(std::min(slowest[0], slowest[1]), 1U);
    EXPECT_EQ(std::max(slowest[0], slowest[1]), 3U);
    EXPECT_LT(result.ranks.posted_ns[1], result.rank_median_ns[1] - 0.9 * fault_ns);
}

TEST(RankTimes, TheDefinitionSaysWhatTheHeadlineIs) {
    EXPECT_EQ(measured({}, StartRequest::barrier).definition,
              "isolated: one iteration behind a dissemination barrier, largest over ranks of (done - enter)");
    CellResult const window = measured({}, StartRequest::window);
    EXPECT_EQ(window.definition,
              "isolated: one iteration begun at one time on all ranks, from the first rank's enter to the last rank's "
              "done");
    EXPECT_GE(window.sync.margin_ns, 50'000);
    EXPECT_EQ(window.sync.clock_error_ns, 0);
    EXPECT_GE(window.time.median, window.arrival.last_arrival_ns);
}

}  // namespace
}  // namespace dlmb::measure

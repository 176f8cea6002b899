// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a rank or a link, read from the record: faults that sleep far longer than a busy machine delays.
#include "common/base/philox.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::measure {
namespace {

using namespace testing;

constexpr std::chrono::milliseconds fault_time(20);
constexpr double fault_ns = 20e6;

CellResult measured(Fault const& fault, StartRequest start = StartRequest::automatic, std::uint64_t samples = 6,
                    int ranks = 4) {
    RunSpec spec{.ranks = ranks, .options = brief(), .cells = {with(fault)}};
    spec.options.iterations = samples;
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

/// A busy machine delays the other ranks, too.
Suspect heaviest_charge(CellResult const& result) {
    return *std::max_element(result.suspects.begin(), result.suspects.end(),
                             [](Suspect const& a, Suspect const& b) { return a.ns < b.ns; });
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

TEST(RankTimes, ARankThatIsAlwaysSlowToSendIsNamed) {
    Fault fault;
    fault.before = [](Iteration const& iteration) {
        if (iteration.plan.me == 1) {
            std::this_thread::sleep_for(4 * fault_time);
        }
    };
    CellResult const result = measured(fault, StartRequest::automatic, 6, 2);  // few, so that iterations are short
    ASSERT_FALSE(result.suspects.empty());
    Suspect const heaviest = heaviest_charge(result);
    EXPECT_EQ(heaviest.rank, 1);
    EXPECT_EQ(heaviest.kind, Suspect::Kind::delayed);
    EXPECT_GE(heaviest.ns, 4 * fault_ns);

    fault.launch_blocks = true;  // then its end tells nothing
    for (Suspect const& suspect : measured(fault, StartRequest::automatic, 6, 2).suspects) {
        EXPECT_NE(suspect.kind, Suspect::Kind::delayed);
    }
}

TEST(RankTimes, ARankThatIsSlowNowAndThenIsNamedWhereverItIsSlow) {
    // One in four, but not each fourth: iterations that are not recorded come at a beat that could be the same. Of 60
    // samples four at least are slow, and not half of them, but for one launch in 10,000.
    auto const now_and_then = [](Iteration const& iteration) {
        PhiloxBlock const random = philox({static_cast<std::uint32_t>(iteration.number), 0, 0, 0}, 1);
        if (iteration.plan.me == 1 && random[0] % 4 == 0) {
            std::this_thread::sleep_for(4 * fault_time);
        }
    };
    Fault before_launching;
    before_launching.before = now_and_then;
    Fault behind_its_work;
    behind_its_work.after = now_and_then;
    for (Fault const& fault : {before_launching, behind_its_work}) {
        CellResult const result = measured(fault, StartRequest::automatic, 60, 2);
        ASSERT_FALSE(result.suspects.empty());
        Suspect const heaviest = heaviest_charge(result);
        EXPECT_EQ(heaviest.rank, 1);
        EXPECT_EQ(heaviest.kind, Suspect::Kind::jittery);
        EXPECT_GE(heaviest.ns, 3 * fault_ns);
    }
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

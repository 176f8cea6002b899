// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a rank or a link, read from what was noted of the ranks, on a clock that the test holds.
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/diagnosis/rank_log.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace dlmb::measure {
namespace {

using namespace testing;

constexpr Nanoseconds us = 1000;
constexpr Nanoseconds fault_time = 20'000 * us;
constexpr double fault_ns = 20e6;

/// How long a rank takes in one sample, by a clock that the test holds: what else the machine does is in no figure.
struct Work {
    Nanoseconds launch = 10 * us;
    Nanoseconds own = 100 * us;  // behind the last launch of all ranks, for whose data it waits
};
using WorkOf = std::function<Work(Rank, std::uint64_t sample)>;

RankMarks marks(WorkOf const& work, int ranks, Rank me, std::uint64_t sample) {
    Nanoseconds const enter = static_cast<Nanoseconds>(sample) * 1'000'000 * us;
    Nanoseconds last_posted = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
        last_posted = std::max(last_posted, enter + work(rank, sample).launch);
    }
    return {enter, enter + work(me, sample).launch, last_posted + work(me, sample).own};
}

/// What the log of the ranks says of these samples.
record::CellResult logged(WorkOf const& work, int ranks, std::uint64_t samples, bool launch_blocks = false) {
    record::CellResult result;
    in_process::run_ranks(ranks, [&](Bootstrap& bootstrap) {
        SampleChunk chunk;
        std::vector<Nanoseconds> headline;
        for (std::uint64_t sample = 0; sample < samples; ++sample) {
            LargestWords largest{};
            std::int64_t sum = 0;
            for (Rank rank = 0; rank < ranks; ++rank) {
                RankMarks const its = marks(work, ranks, rank, sample);
                LargestWords const words = largest_words(its, rank);
                for (std::size_t i = 0; i < words.size(); ++i) {
                    largest[i] = rank == 0 ? words[i] : std::max(largest[i], words[i]);
                }
                sum += its.done - its.enter;
            }
            chunk.own.push_back(marks(work, ranks, bootstrap.rank(), sample));
            chunk.samples.push_back(sample_times(largest, sum, ranks));
            headline.push_back(chunk.samples.back().max_rank);
        }
        RankLog log;
        log.keep(chunk);
        record::CellResult mine;
        mine.iterations_per_sample = 1;
        mine.time.median = statistics::median(headline);
        std::vector<Plan> const draws{two_phase_plan(bootstrap.rank(), ranks, 0)};
        log.summarize(bootstrap, draws, launch_blocks, mine);
        if (bootstrap.rank() == deciding_rank) {
            result = mine;
        }
    });
    return result;
}

/// Ranks by what they have most of, first.
std::vector<std::size_t> most_first(std::vector<double> const& values) {
    std::vector<std::size_t> ranks(values.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    return ranks;
}

TEST(RankTimes, ARankThatIsSlowToSendStandsOutByWhenItPosted) {
    auto const work = [](Rank rank, std::uint64_t) { return Work{.launch = rank == 2 ? fault_time : 10 * us}; };
    record::CellResult const result = logged(work, 4, 6);
    EXPECT_EQ(most_first(result.ranks.posted_ns)[0], 2U);
    EXPECT_EQ(result.ranks.posted_ns[2], fault_ns);
    EXPECT_GE(result.rank_median_ns[0], fault_ns);  // the others wait for it, and their durations name nobody
}

TEST(RankTimes, AJitteryRankStandsOutByTheSpreadOfItsDurations) {
    auto const work = [](Rank rank, std::uint64_t sample) {
        return Work{.own = rank == 1 && sample % 2 == 0 ? fault_time : 100 * us};
    };
    EXPECT_EQ(most_first(logged(work, 4, 6).ranks.spread_ns)[0], 1U);
}

TEST(RankTimes, ARankThatIsAlwaysSlowToSendIsNamed) {
    auto const work = [](Rank rank, std::uint64_t) { return Work{.launch = rank == 1 ? fault_time : 10 * us}; };
    record::CellResult const result = logged(work, 2, 6);
    ASSERT_EQ(result.suspects.size(), 1U);
    EXPECT_EQ(result.suspects[0].rank, 1);
    EXPECT_EQ(result.suspects[0].kind, record::Suspect::Kind::delayed);
    EXPECT_GE(result.suspects[0].ns, fault_ns - 10e3);

    EXPECT_TRUE(logged(work, 2, 6, true).suspects.empty());  // where a launch blocks its end tells nothing
}

TEST(RankTimes, ARankThatIsSlowNowAndThenIsNamedWhereverItIsSlow) {
    auto const slow = [](Rank rank, std::uint64_t sample) { return rank == 1 && sample % 4 == 3; };
    auto const before_launching = [&](Rank rank, std::uint64_t sample) {
        return Work{.launch = slow(rank, sample) ? fault_time : 10 * us};
    };
    auto const behind_its_work = [&](Rank rank, std::uint64_t sample) {
        return Work{.own = slow(rank, sample) ? fault_time : 100 * us};
    };
    for (WorkOf const& work : {WorkOf{before_launching}, WorkOf{behind_its_work}}) {
        record::CellResult const result = logged(work, 2, 60);
        ASSERT_EQ(result.suspects.size(), 1U);
        EXPECT_EQ(result.suspects[0].rank, 1);
        EXPECT_EQ(result.suspects[0].kind, record::Suspect::Kind::jittery);
        EXPECT_GE(result.suspects[0].ns, fault_ns - 200e3);
    }
}

TEST(RankTimes, TheTwoEndsOfASlowLinkStandOutByTheirDurationsAndNotByWhenTheyPosted) {
    auto const work = [](Rank rank, std::uint64_t) { return Work{.own = rank % 2 == 1 ? fault_time : 100 * us}; };
    record::CellResult const result = logged(work, 4, 6);
    std::vector<std::size_t> const slowest = most_first(result.rank_median_ns);
    EXPECT_EQ(std::min(slowest[0], slowest[1]), 1U);
    EXPECT_EQ(std::max(slowest[0], slowest[1]), 3U);
    EXPECT_LT(result.ranks.posted_ns[1], result.rank_median_ns[1] - 0.9 * fault_ns);
}

/// A whole run. Only what a sleep bounds from below is asked for, which a busy machine cannot change.
record::CellResult measured(Fault const& fault, StartRequest start) {
    RunSpec spec{.ranks = 4, .options = brief(), .cells = {with(fault)}};
    spec.options.iterations = 6;
    spec.options.start = start;
    record::CellResult result = run(spec).at(0).at(0).result;
    EXPECT_EQ(result.status, record::Status::ok);
    return result;
}

TEST(RankTimes, ARankThatIsSlowIsInTheTimesByAnyStart) {
    Fault fault;
    fault.before = fault.after = [](Iteration const& iteration) {
        if (iteration.plan.me == 3) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(fault_time / 2));
        }
    };
    for (StartRequest const start : {StartRequest::barrier, StartRequest::window}) {
        record::CellResult const result = measured(fault, start);
        EXPECT_GE(result.ranks.posted_ns[3], fault_ns / 2);
        EXPECT_GE(result.time.min, fault_ns);
        EXPECT_GT(result.arrival.imbalance_time, 1);
        EXPECT_EQ(result.sync.method, start == StartRequest::window ? "window" : "barrier");
    }
}

TEST(RankTimes, TheDefinitionSaysWhatTheHeadlineIs) {
    EXPECT_EQ(measured({}, StartRequest::barrier).definition,
              "isolated: one iteration behind a dissemination barrier, largest over ranks of (done - enter)");
    record::CellResult const window = measured({}, StartRequest::window);
    EXPECT_EQ(window.definition,
              "isolated: one iteration begun at one time on all ranks, from the first rank's enter to the last rank's "
              "done");
    EXPECT_GE(window.sync.margin_ns, 50'000);
    EXPECT_EQ(window.sync.clock_error_ns, 0);
    EXPECT_GE(window.time.median, window.arrival.last_arrival_ns);
}

}  // namespace
}  // namespace dlmb::measure

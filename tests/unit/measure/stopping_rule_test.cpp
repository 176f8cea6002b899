// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The stopping rule on scripted samples and clocks: nothing here waits.
#include "common/measure/sampling/stopping_rule.hpp"
#include "tests/unit/measure/time_units.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace dlmb::measure {
namespace {

struct Played {
    Stop stop = Stop::not_yet;
    std::vector<std::vector<std::uint64_t>> chunks;  // [round][chunk]
    std::uint64_t samples = 0;
    Nanoseconds elapsed = 0;
};

/// Plays a cell whose sample number i takes `duration(i)` and nothing in between.
Played play(StoppingLimits const& limits, Nanoseconds estimate,
            std::function<Nanoseconds(std::uint64_t)> const& duration) {
    StoppingRule rule(limits, estimate);
    Played run;
    while (run.stop == Stop::not_yet) {
        rule.begin_round();
        std::vector<std::uint64_t> chunks;
        StoppingDecision decision = rule.next();
        for (; decision.samples > 0; decision = rule.next()) {
            std::vector<Nanoseconds> samples;
            Nanoseconds elapsed = 0;
            for (std::uint64_t i = 0; i < decision.samples; ++i) {
                samples.push_back(duration(run.samples + i));
                elapsed += samples.back();
            }
            rule.add(samples, elapsed);
            run.samples += decision.samples;
            run.elapsed += elapsed;
            chunks.push_back(decision.samples);
        }
        if (!chunks.empty()) {
            run.chunks.push_back(chunks);
        }
        run.stop = decision.stop;
    }
    EXPECT_EQ(rule.round_medians().size(), run.chunks.size());
    return run;
}

Played play(StoppingLimits const& limits, Nanoseconds duration) {
    return play(limits, duration, [duration](std::uint64_t) { return duration; });
}

TEST(StoppingRule, ASteadyCellStopsForPrecisionAfterSixRounds) {
    Played const run = play({}, 3 * ms);
    EXPECT_EQ(run.stop, Stop::precision);
    EXPECT_EQ(run.chunks.size(), 6U);
    // 16 samples are enough for neither 20 samples nor 50 ms; the next chunk is 1.5 times as long.
    EXPECT_EQ(run.chunks.front(), (std::vector<std::uint64_t>{16, 24}));
}

TEST(StoppingRule, AShortIterationFillsFiftyMillisecondsOrFiveHundredSamples) {
    Played const fifty_ms = play({}, 200 * us);  // 250 samples would be 50 ms
    EXPECT_EQ(fifty_ms.chunks.front(), (std::vector<std::uint64_t>{16, 24, 36, 54, 81, 121}));
    Played const five_hundred = play({}, 10 * us);
    EXPECT_EQ(five_hundred.samples, 6 * 500U);
}

TEST(StoppingRule, ALongIterationFillsOneSecondPerRound) {
    Played const run = play({.time_ns = 60 * s}, 400 * ms);
    // Two fit in a second; they leave 0.2 s, into which a third one is put because a round has at least one pass.
    EXPECT_EQ(run.chunks.front(), (std::vector<std::uint64_t>{2, 1}));
}

TEST(StoppingRule, AShortTimeLimitIsSpreadOverSixRoundsAtLeast) {
    auto const restless = [](Nanoseconds each) {
        return [each](std::uint64_t i) { return i % 2 == 0 ? each : 2 * each; };
    };
    for (Nanoseconds const each : {10 * us, 1 * ms, 4 * ms}) {
        EXPECT_GE(play({.time_ns = 100 * ms}, each, restless(each)).chunks.size(), 6U) << each << " ns";
    }
}

TEST(StoppingRule, RoundsThatDisagreeGoOnUntilTheCap) {
    Played const run =
        play({.time_ns = 3600 * s}, 3 * ms, [](std::uint64_t i) { return i / 40 % 2 == 0 ? 3 * ms : 6 * ms; });
    EXPECT_EQ(run.stop, Stop::cap);
    EXPECT_EQ(run.chunks.size(), 30U);
}

TEST(StoppingRule, RoundsThatDisagreeEndAtTheTimeLimit) {
    auto const restless = [](std::uint64_t i) { return i / 40 % 2 == 0 ? 3 * ms : 6 * ms; };
    Played const run = play({.time_ns = 2 * s}, 3 * ms, restless);
    EXPECT_EQ(run.stop, Stop::time);
    EXPECT_GT(run.chunks.size(), 6U);
    EXPECT_LE(run.elapsed, 2 * s + 240 * ms);  // forty samples of 6 ms: one chunk planned for shorter ones
}

// Half width over median: six rounds of 100, 100, 100, 104 ... give extremes 100 and 104, 2 of 100 or 102.
TEST(StoppingRule, PrecisionIsTheHalfWidthOfTheRoundMediansInterval) {
    auto const rounds_of = [](std::vector<Nanoseconds> const& medians) {
        StoppingRule rule({}, 1 * ms);
        for (Nanoseconds const median : medians) {
            rule.begin_round();
            rule.add(std::vector<Nanoseconds>(20, median), 1 * s);
        }
        return rule.next();
    };
    EXPECT_EQ(rounds_of({100, 100, 100, 100, 100, 104}), (StoppingDecision{0, Stop::precision}));
    EXPECT_EQ(rounds_of({100, 100, 100, 100, 100, 105}), (StoppingDecision{0, Stop::not_yet}));
    EXPECT_EQ(rounds_of({100, 100, 100, 100, 100}),
              (StoppingDecision{0, Stop::not_yet}));  // no interval below 6 rounds
}

// A stream is asked for half of that: medians of 100 and 102 are one per cent off, 100 and 103 are not.
TEST(StoppingRule, AStreamIsMeasuredTwiceAsPrecisely) {
    EXPECT_EQ(stream_precision, latency_precision / 2);
    StoppingRule rule({.precision = stream_precision}, 1 * ms);
    for (Nanoseconds const median : {100, 100, 100, 100, 100, 103}) {
        rule.begin_round();
        rule.add(std::vector<Nanoseconds>(20, median), 1 * s);
    }
    EXPECT_EQ(rule.next(), (StoppingDecision{0, Stop::not_yet}));
}

TEST(StoppingRule, ChunksAreWholePassesOverTheDraws) {
    for (std::uint64_t const pass : {3U, 7U, 20U}) {
        Played const run = play({.pass = pass}, 1 * ms);
        for (auto const& round : run.chunks) {
            for (std::uint64_t const chunk : round) {
                EXPECT_EQ(chunk % pass, 0U) << pass;
            }
        }
    }
}

TEST(StoppingRule, AVerySlowCellStopsWithinItsTimeLimit) {
    Played const run = play({.time_ns = 10 * s}, 2 * s);
    EXPECT_EQ(run.stop, Stop::time);
    EXPECT_EQ(run.samples, 5U);
    EXPECT_EQ(run.elapsed, 10 * s);
}

TEST(StoppingRule, ASlowCellTakesWholePassesWhileTheyFit) {
    Played const run = play({.time_ns = 10 * s, .pass = 4}, 2 * s);  // a second pass would end at 16 s
    EXPECT_EQ(run.stop, Stop::time);
    EXPECT_EQ(run.samples, 4U);
}

TEST(StoppingRule, APartOfAPassIsBetterThanNothing) {
    Played const run = play({.time_ns = 10 * s, .pass = 8}, 2 * s);
    EXPECT_EQ(run.stop, Stop::time);
    EXPECT_EQ(run.samples, 5U);
}

TEST(StoppingRule, ThreeSamplesMayTakeTwiceTheTimeLimitButNoMore) {
    EXPECT_EQ(play({.time_ns = 10 * s}, 6 * s).samples, 3U);   // 18 s
    EXPECT_EQ(play({.time_ns = 10 * s}, 9 * s).samples, 2U);   // a third would end at 27 s
    EXPECT_EQ(play({.time_ns = 10 * s}, 60 * s).samples, 1U);  // nothing at all would be no result
}

TEST(StoppingRule, ASampleSlowerThanAnnouncedShrinksTheNextChunk) {
    Played const run = play({.time_ns = 10 * s}, 1 * us, [](std::uint64_t) { return 300 * ms; });
    EXPECT_EQ(run.chunks.front(), (std::vector<std::uint64_t>{16}));
    EXPECT_EQ(run.chunks.at(1), (std::vector<std::uint64_t>{3, 1}));
    EXPECT_EQ(run.stop, Stop::time);
}

TEST(StoppingRule, AFixedCountIsExactAndSpreadOverRoundsOfWholePasses) {
    for (std::uint64_t const count : {1U, 2U, 5U, 6U, 7U, 100U, 1000U, 4001U}) {
        Played const run = play({.fixed_samples = count}, 3 * s);  // however slow
        EXPECT_EQ(run.samples, count);
        EXPECT_EQ(run.stop, Stop::fixed);
        EXPECT_EQ(run.chunks.size(), std::min<std::size_t>(6, count)) << count;
    }
    Played const at_once = play({.fixed_samples = 40'000U, .at_once = true}, 1 * us);
    EXPECT_EQ(at_once.chunks, (std::vector<std::vector<std::uint64_t>>{{16'384, 16'384, 7232}}));
    Played const passes = play({.fixed_samples = 100U, .pass = 4}, 1 * us);
    // 25 passes of 4 over six rounds
    EXPECT_EQ(passes.chunks, (std::vector<std::vector<std::uint64_t>>{{20}, {16}, {16}, {16}, {16}, {16}}));
}

TEST(StoppingRule, AFixedRoundHasItsMedianOnceItIsComplete) {
    StoppingRule rule({.fixed_samples = 1000U}, 1 * us);
    std::vector<std::size_t> medians;
    for (Nanoseconds round_ns = 1; round_ns <= 6; ++round_ns) {
        rule.begin_round();
        while (std::uint64_t const samples = rule.next().samples) {
            rule.add(std::vector<Nanoseconds>(samples, round_ns), 1);
        }
        medians.push_back(rule.round_medians().size());
    }
    EXPECT_EQ(rule.round_medians(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(medians, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));

    StoppingRule chunks({.fixed_samples = 6000U}, 1 * us);  // rounds of two chunks
    chunks.begin_round();
    chunks.add(std::vector<Nanoseconds>(chunks.next().samples, 1), 1);
    EXPECT_TRUE(chunks.round_medians().empty());
    chunks.add(std::vector<Nanoseconds>(chunks.next().samples, 3), 1);
    EXPECT_EQ(chunks.round_medians(), std::vector<double>{2});
}

TEST(StoppingRule, NoFixedSamplesMeansNoRound) {
    Played const run = play({.fixed_samples = 0U}, 1 * ms);
    EXPECT_EQ(run.samples, 0U);
    EXPECT_EQ(run.stop, Stop::fixed);
}

}  // namespace
}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cells on healthy backends: what is sampled, who decides, what every rank is told.
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

using namespace testing;

record::CellResult result_of(std::vector<std::vector<Told>> const& told) {
    return told.at(0).at(0).result;
}

TEST(Runner, AFixedCountGivesExactlyThatManySamples) {
    for (std::uint64_t const count : {1U, 7U, 100U}) {
        RunSpec spec{.options = brief(), .cells = {without_fault()}};
        spec.options.iterations = count;
        record::CellResult const result = result_of(run(spec));
        EXPECT_EQ(result.status, record::Status::ok);
        EXPECT_EQ(result.samples_ns.size(), count);
        EXPECT_EQ(result.time.samples, count);
        EXPECT_EQ(result.stop_reason, "fixed");
        EXPECT_EQ(result.warmup_iterations, 0U);
        EXPECT_EQ(result.rank_median_ns.size(), 4U);
    }
}

TEST(Runner, TheCellKnowsItsRoundsAndTheOrderOfItsSamples) {
    RunSpec spec{.options = brief(), .cells = {without_fault()}};
    spec.options.iterations = 60;
    record::CellResult const result = result_of(run(spec));
    ASSERT_EQ(result.round_medians_ns.size(), 6U);
    EXPECT_GT(result.median_of_rounds_ns, 0);
    EXPECT_TRUE(result.aa_ratio.has_value());
    ASSERT_TRUE(result.series.has_value());
    EXPECT_GT(result.series->effective_samples, 0);
    EXPECT_LE(result.series->effective_samples, 60);
}

TEST(Runner, CellsOfAllPointsTakeTurns) {
    std::vector<int> order;  // of iterations on rank 0: which cell's
    auto const note = [&order](int cell) {
        return seen_by([&order, cell](Iteration const&) { order.push_back(cell); });
    };
    RunSpec spec{.options = brief(), .cells = {note(0), note(1), note(2), note(3)}};
    spec.options.iterations = 60;  // in six rounds
    spec.points = 2;
    auto const told = run(spec);
    ASSERT_EQ(told[0].size(), 4U);
    for (auto const& rank : told) {
        for (std::size_t place = 0; place < rank.size(); ++place) {
            EXPECT_EQ(rank[place].cell, told[0][place].cell);
            EXPECT_EQ(rank[place].result.status, record::Status::ok);
        }
    }
    int turns_of_points = 1;
    for (std::size_t i = 1; i < order.size(); ++i) {
        turns_of_points += order[i] / 2 != order[i - 1] / 2 ? 1 : 0;
    }
    EXPECT_GT(turns_of_points, 6);  // one point after the other would be two
}

// Iterations that ranks begin together, as those of the warm-up, may take much longer.
TEST(Runner, AStreamsSamplesAreAsLongAsTheyAreToBeAfterASlowWarmUp) {
    struct Case {
        std::optional<std::uint64_t> warmup;
        std::uint64_t slow = 0;  // first iterations
    };
    for (Case const& each : {Case{std::nullopt, 20}, Case{0, 2}}) {
        auto const slow_at_first = seen_by([&each](Iteration const& iteration) {
            if (iteration.number < each.slow) {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
        });
        RunSpec spec{.ranks = 1, .options = {}, .cells = {slow_at_first}};
        spec.options.mode = Mode::stream;
        spec.options.warmup = each.warmup;
        spec.options.time_limit_ns = 100'000'000;
        record::CellResult const result = result_of(run(spec));
        EXPECT_GT(result.iterations_per_sample, 16U) << "10 ms are 5 iterations of 2 ms, and 16 the least";
    }
}

TEST(Runner, OneRankIsEnough) {
    record::CellResult const result = result_of(run({.ranks = 1, .options = brief(), .cells = {without_fault()}}));
    EXPECT_EQ(result.status, record::Status::ok);
    EXPECT_EQ(result.straggler.rank, 0);
    EXPECT_EQ(result.straggler.share, 1.0);
}

// Two draws, six samples, no warm-up: checked 0 and 1, then samples 0 .. 5, then 0 and 1 checked again.
TEST(Runner, SampleNumberIRunsDrawIModuloTheNumberOfDraws) {
    std::vector<Bytes> seen;
    auto const note = seen_by([&seen](Iteration const& iteration) {
        seen.push_back(exchange_of(iteration.plan, "dispatch").send.front().bytes);
    });
    (void)run({.plan = one_phase_plan, .options = brief(), .cells = {note}});
    EXPECT_EQ(seen, (std::vector<Bytes>{256, 512, 256, 512, 256, 512, 256, 512, 256, 512}));
}

TEST(Runner, EveryDrawIsCheckedBeforeAndAfterTiming) {
    auto const told = run({.draws = 3, .options = brief(), .cells = {without_fault()}});
    for (auto const& rank : told) {
        record::Validation const& validation = rank.at(0).result.validation;
        EXPECT_EQ(validation.verdict, record::Verdict::passed);
        EXPECT_EQ(validation.draws_checked, (std::vector<std::uint32_t>{0, 1, 2}));
        EXPECT_EQ(validation.timed_checked, 2U);                         // rounds of one pass over the draws
        EXPECT_EQ(validation.blocks_checked, (2U * 3 + 2) * 2 * 4 * 4);  // twice, draws, phases, receivers, senders
    }
}

TEST(Runner, WithoutValidationNothingIsClaimed) {
    RunSpec spec{.options = brief(), .cells = {with(corrupted_byte(1, "dispatch", 2))}};
    spec.options.validate = false;
    record::CellResult const result = result_of(run(spec));
    EXPECT_EQ(result.status, record::Status::ok);
    EXPECT_EQ(result.validation.verdict, record::Verdict::off);
    EXPECT_EQ(result.validation.blocks_checked, 0U);
    EXPECT_GT(result.first_iteration_ns, 0);
}

TEST(Runner, PhasesAreThoseOfThePlanFromIterationsOfTheirOwn) {
    RunSpec spec{.options = brief(), .cells = {without_fault()}};
    spec.options.iterations = 120;
    record::CellResult const result = result_of(run(spec));
    ASSERT_EQ(result.phases.size(), 2U);
    EXPECT_EQ(result.phases[0].label, "dispatch");
    EXPECT_EQ(result.phases[1].label, "combine");   // the suffix of "combine.node" is not a phase of its own
    EXPECT_EQ(result.phases[0].time.samples, 60U);  // half as many as there are samples
    EXPECT_EQ(result.time.samples, 120U);
}

TEST(Runner, APhaseThatNoTimedIterationHasIsNotAPhaseOfZeroNanoseconds) {
    auto const combined_in_the_last_draw = [](Rank me, int ranks, std::uint32_t draw) {
        return draw == 3 ? two_phase_plan(me, ranks, draw) : one_phase_plan(me, ranks, draw);
    };
    RunSpec spec{.plan = combined_in_the_last_draw, .draws = 4, .options = brief(), .cells = {without_fault()}};
    spec.options.iterations = 2;
    record::CellResult const result = result_of(run(spec));
    ASSERT_EQ(result.phases.size(), 1U);
    EXPECT_EQ(result.phases[0].label, "dispatch");
    EXPECT_EQ(result.phases[0].time.samples, 1U);
}

TEST(Runner, TheOnlyPhaseIsTheIterationAndTakesNoIterationsOfItsOwn) {
    record::CellResult const result =
        result_of(run({.ranks = 1, .plan = one_phase_plan, .options = brief(), .cells = {without_fault()}}));
    ASSERT_EQ(result.phases.size(), 1U);
    EXPECT_EQ(result.phases[0].time.samples, 6U);
    EXPECT_EQ(result.phases[0].time.median, result.time.median);
}

TEST(Runner, TheSlowestRankIsNamedAndItsTimeIsTheSample) {
    record::CellResult const result =
        result_of(run({.options = brief(), .cells = {with(delayed_rank(2, std::chrono::milliseconds(50)))}}));
    EXPECT_EQ(result.straggler.rank, 2);  // others wait much shorter for a core of a busy machine
    EXPECT_GT(result.straggler.share, 0.5);
    EXPECT_GE(result.time.min, 50e6);  // a sleep of 50 ms is never shorter
    EXPECT_GE(result.rank_median_ns.at(2), 50e6);
}

TEST(Runner, SetUpTimeIsThatOfTheSlowestRank) {
    EXPECT_EQ(result_of(run({.options = brief(), .cells = {without_fault()}})).setup_ns, 1003);
}

TEST(Runner, AllRanksAreToldTheSameInTheSameOrder) {
    RunSpec spec{.options = brief(),
                 .cells = {without_fault(), with(corrupted_byte(3, "combine.node", 0, 4)), without_fault(),
                           with(corrupted_byte(0, "dispatch", 1))}};
    auto const told = run(spec);
    ASSERT_EQ(told[0].size(), 4U);
    EXPECT_EQ(told[0][0].cell, 3U);  // wrong from the first iteration on: over before any round
    for (auto const& rank : told) {
        ASSERT_EQ(rank.size(), told[0].size());
        for (std::size_t i = 0; i < rank.size(); ++i) {
            EXPECT_EQ(rank[i].cell, told[0][i].cell);
            EXPECT_EQ(rank[i].result.status, told[0][i].result.status);
            EXPECT_EQ(rank[i].result.reason, told[0][i].result.reason);
            EXPECT_EQ(rank[i].result.stop_reason, told[0][i].result.stop_reason);
            EXPECT_EQ(rank[i].result.validation.first_mismatch, told[0][i].result.validation.first_mismatch);
        }
    }
}

// The clock of limits jumps 2 s per reading, and every chunk reads it twice, also one that is checked where it uses
// no slot twice: rounds of one chunk, five of them in 10 s.
TEST(Runner, OnlyRankZeroReadsTheClockThatStops) {
    RunSpec spec{.plan = one_phase_plan, .slots = 32, .cells = {without_fault()}};
    spec.options.warmup = 0;
    spec.adjust = [](RunnerOptions options, Rank me) {
        options.limit_clock = [me, reading = Nanoseconds{0}]() mutable {
            if (me != 0) {
                throw Error("a rank other than 0 decided from its own clock");
            }
            return reading += 2'000'000'000;
        };
        return options;
    };
    auto const told = run(spec);
    EXPECT_EQ(result_of(told).stop_reason, "time");
    EXPECT_EQ(result_of(told).round_medians_ns.size(), 5U);
    for (auto const& rank : told) {
        EXPECT_EQ(rank.at(0).result.stop_reason, "time");
    }
}

TEST(Runner, TheWarmUpIsCountedApart) {
    RunSpec spec{.options = brief(), .cells = {without_fault()}};
    spec.options.warmup = 9;
    record::CellResult const result = result_of(run(spec));
    EXPECT_EQ(result.warmup_iterations, 9U);
    EXPECT_EQ(result.samples_ns.size(), 6U);
}

TEST(Runner, AnAdaptiveCellWarmsUpSamplesAndStops) {
    RunSpec spec{.ranks = 2, .cells = {without_fault()}};
    spec.options.time_limit_ns = 200'000'000;
    record::CellResult const result = result_of(run(spec));
    EXPECT_EQ(result.status, record::Status::ok);
    EXPECT_GE(result.warmup_iterations, 10U);
    EXPECT_NE(result.stop_reason, "fixed");  // which of the others depends on the machine
    EXPECT_GE(result.time.samples, 3U);
    EXPECT_LE(result.time.median_low.value_or(0), result.time.median);
    EXPECT_GE(result.time.median_high.value_or(1e18), result.time.median);
    EXPECT_FALSE(result.round_medians_ns.empty());
}

TEST(Runner, AStreamHasAsManyIterationsAsAreAskedForInSamplesOfWholePasses) {
    std::uint64_t launches = 0;
    RunSpec spec{.draws = 3, .options = brief(), .cells = {seen_by([&](Iteration const&) { ++launches; })}};
    spec.options.mode = Mode::stream;
    spec.options.validate = false;
    spec.options.iterations = 240;
    record::CellResult const result = result_of(run(spec));
    EXPECT_TRUE(result.phases.empty());
    EXPECT_EQ(launches, 240U + 1);                    // the first iteration is apart
    EXPECT_EQ(result.iterations_per_sample % 3, 0U);  // whole passes over three draws
    EXPECT_GE(result.iterations_per_sample, 16U);
    EXPECT_EQ(result.samples_ns.size() * result.iterations_per_sample, 240U);
    EXPECT_EQ(result.definition,
              "stream: iterations back to back behind a dissemination barrier, (last done - first enter) / iterations");
    EXPECT_EQ(result.sync.method, "barrier");
    EXPECT_TRUE(result.sync.is_span);
}

/// Rank 2 takes `late` longer in every call.
RunSpec osu_spec(Mode mode, std::chrono::milliseconds late) {
    RunSpec spec{.options = brief(), .cells = {with(delayed_rank(2, late))}};
    spec.options.mode = mode;
    spec.options.warmup = 2;
    spec.options.validate = false;
    return spec;
}

TEST(Runner, AnOsuSampleIsTheMeanOverRanksOfEachRanksOwnCall) {
    record::CellResult const result = result_of(run(osu_spec(Mode::osu, std::chrono::milliseconds(5))));
    EXPECT_EQ(result.samples_ns.size(), 6U);
    EXPECT_EQ(result.round_medians_ns.size(), 1U);  // calls follow each other at once
    EXPECT_EQ(result.iterations_per_sample, 1U);
    EXPECT_EQ(result.warmup_iterations, 2U);
    EXPECT_EQ(result.definition,
              "osu: each call timed by itself, a barrier between calls, mean over ranks of (done - enter)");
    ASSERT_TRUE(result.rank_means.has_value());
    EXPECT_NEAR(result.rank_means->mean, result.time.mean, 1);  // samples are whole nanoseconds
    EXPECT_LE(result.rank_means->min, result.rank_means->mean);
    EXPECT_GE(result.rank_means->max, 5e6);  // a sleep of 5 ms is never shorter
    EXPECT_FALSE(result.sync.is_span);
    EXPECT_TRUE(result.phases.empty());
}

TEST(Runner, OfPairsTheRanksThatBeginTakeTheTimeAndHalveIt) {
    RunSpec spec = osu_spec(Mode::osu, std::chrono::milliseconds(0));
    spec.osu = osu_latency(8);
    std::uint64_t barriers = 0;
    spec.cells = {[&barriers](Rank me) {
        Fault fault;
        if (me == 0) {
            fault.on_barrier = [&barriers] { ++barriers; };
        }
        if (me == 3) {
            fault.after = [](Iteration const&) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
        }
        return fault;
    }};
    record::CellResult const result = result_of(run(spec));
    EXPECT_EQ(barriers, 1U);  // before all calls, and none between them
    ASSERT_TRUE(result.rank_means.has_value());
    EXPECT_GE(result.rank_median_ns.at(3), 5e6);
    EXPECT_NEAR(result.rank_means->mean, result.time.mean, 1);
    EXPECT_NE(result.definition.find("nothing between calls, mean over the first ranks of pairs of (done - enter) / 2"),
              std::string::npos)
        << result.definition;
}

TEST(Runner, BetweenTwoOsuCallsOfACollectiveStandsTheBarrierOfItsBackend) {
    RunSpec spec = osu_spec(Mode::osu, std::chrono::milliseconds(0));
    std::uint64_t barriers = 0;
    Fault counting;
    counting.on_barrier = [&barriers] { ++barriers; };
    spec.cells = {on_rank_0(counting)};
    (void)run(spec);
    EXPECT_EQ(barriers, 1U + 2 + 6);  // before the loop, behind each warm-up call and each timed one
    barriers = 0;
    spec.osu = osu_windows(8, true, 2);  // osu_mbw_mr.c
    record::CellResult const rate = result_of(run(spec));
    EXPECT_EQ(barriers, 1U + 2 * (2 + 6));
    EXPECT_EQ(rate.definition,
              "osu: each call timed by itself, two barriers between calls, mean over the first ranks of "
              "pairs of (done - enter)");
}

TEST(Runner, AnNcclSampleIsAllCallsBackToBackAveragedOverRanks) {
    RunSpec spec = osu_spec(Mode::nccl, std::chrono::milliseconds(1));
    record::CellResult const result = result_of(run(spec));
    EXPECT_EQ(result.samples_ns.size(), 1U);
    EXPECT_EQ(result.iterations_per_sample, 6U);
    EXPECT_EQ(result.definition,
              "nccl: calls back to back behind a barrier, each waited for, mean over ranks of (done - enter) / calls");
    ASSERT_TRUE(result.rank_means.has_value());
    EXPECT_NEAR(result.rank_means->mean, result.time.mean, 1);
    EXPECT_GE(result.rank_means->max, 1e6);
}

TEST(Runner, ABackendIsQuiescentBeforeAnotherOneCommunicates) {
    std::vector<int> events;  // cell of each launch on rank 0; its bitwise complement for a quiesce
    auto const noted = [&events](int cell) {
        Fault fault;
        fault.before = [&events, cell](Iteration const&) { events.push_back(cell); };
        fault.on_quiesce = [&events, cell] { events.push_back(~cell); };
        return on_rank_0(fault);
    };
    (void)run({.options = brief(), .cells = {noted(0), noted(1), noted(2)}});
    ASSERT_FALSE(events.empty());
    std::size_t switches = 0;
    for (std::size_t i = 1; i < events.size(); ++i) {
        if (events[i] >= 0 && events[i] != events[i - 1]) {
            EXPECT_LT(events[i - 1], 0) << "cell " << events[i] << " launched right after " << events[i - 1];
            ++switches;
        }
    }
    // Set-up and three rounds visit three cells each; a visit may follow one of the same cell between rounds.
    EXPECT_GE(switches, 12U - 1 - 3);
    EXPECT_LT(events.back(), 0);  // nothing is in flight at the end
}

TEST(Runner, CellsMustHaveAllDraws) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        std::string why_not;
        std::unique_ptr<MemorySpace> const memory = make_memory_space(MemoryKind::host, why_not);
        PreparedPoint point(bootstrap, *memory, {two_phase_plan(0, 1, 0)});
        std::vector<Cell> cells(1);
        cells[0].point = &point;
        Watchdog watchdog([](HangReport const&) {});
        CommonStart start(bootstrap, StartRequest::automatic);
        EXPECT_THROW(run_cells({bootstrap, start, watchdog, {}}, cells, [](Cell const&, record::CellResult const&) {}),
                     Error);
    });
}

}  // namespace
}  // namespace dlmb::measure

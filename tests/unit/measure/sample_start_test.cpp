// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Starts on a common clock: who begins when, what becomes of a sample that a rank began late, which method is chosen.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/cell_run.hpp"
#include "common/measure/sampling/sampler.hpp"
#include "common/measure/start/common_start.hpp"
#include "tests/unit/measure/late_bootstrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace dlmb::measure {
namespace {

using namespace std::chrono_literals;
using testing::LateBootstrap;

/// A plan of one step that notes when it was launched.
class Noting final : public CompiledPlan {
public:
    explicit Noting(std::vector<Nanoseconds>& launched) : CompiledPlan(1), launched_(launched) {}
    void launch() override {
        begin();
        launched_.push_back(now_ns());
    }
    void finish() override { mark(0); }

private:
    std::vector<Nanoseconds>& launched_;
};

/// What a sampler of one such plan needs.
class OneStep {
public:
    OneStep(Bootstrap& bootstrap, std::vector<Nanoseconds>& launched)
        : clock_(bootstrap), plans_{plan_of(bootstrap.rank())}, phases_(bootstrap, plans_) {
        draws_.push_back(std::make_unique<Noting>(launched));
    }
    [[nodiscard]] CommonClock const& clock() const { return clock_; }
    [[nodiscard]] Sampler sampler(Bootstrap& bootstrap) {
        return {bootstrap, clock_, watchdog_, draws_, plans_, phases_};
    }

private:
    static Plan plan_of(Rank me) {
        Plan plan;
        plan.me = me;
        plan.steps.push_back({Compute{}, {}, "dispatch"});
        return plan;
    }

    CommonClock clock_;
    Watchdog watchdog_{[](HangReport const&) {}};
    std::vector<Plan> plans_;
    PhaseMap phases_;
    std::vector<std::unique_ptr<CompiledPlan>> draws_;
};

TEST(SampleStart, NobodyBeginsBeforeTheMarginAfterTheLastArrivalIsOver) {
    std::vector<Nanoseconds> arrived(3);
    std::vector<Nanoseconds> began(3);
    in_process::run_ranks(3, [&](Bootstrap& bootstrap) {
        auto const me = static_cast<std::size_t>(bootstrap.rank());
        CommonClock const clock(bootstrap);
        SampleStart start(bootstrap, clock, {StartMethod::window, 5'000'000, true}, true);
        std::this_thread::sleep_for(me * 2ms);
        arrived[me] = now_ns();
        start.wait();
        began[me] = now_ns();
    });
    EXPECT_GE(*std::min_element(began.begin(), began.end()),
              *std::max_element(arrived.begin(), arrived.end()) + 5'000'000);
}

TEST(SampleStart, MoreThanFivePercentLateDoubleTheMargin) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        CommonClock const clock(bootstrap);
        SampleStart start(bootstrap, clock, {StartMethod::window, 1000, true}, false);
        start.note(1, 20);
        EXPECT_EQ(start.plan().margin_ns, 1000);  // 5 %, not more
        start.note(1, 1);
        EXPECT_EQ(start.plan().margin_ns, 2000);  // 2 of 21
        start.note(10, 10);
        EXPECT_EQ(start.plan().margin_ns, 2000);  // counted anew, and too few to judge
        start.note(10, 10);
        EXPECT_EQ(start.plan().margin_ns, 4000);
        for (int i = 0; i < 50; ++i) {
            start.note(20, 20);
        }
        EXPECT_EQ(start.plan().margin_ns, SampleStart::margin_most_ns);
    });
}

// Rank 1 misses the start of the third of eight samples. All ranks run the draw of that sample once more, at the end.
TEST(SampleStart, ASampleThatOneRankBeganLateIsDroppedAndTakenAgainOnAllRanks) {
    std::vector<std::vector<Nanoseconds>> launched(3);
    std::vector<std::uint64_t> late(3);
    in_process::run_ranks(3, [&](Bootstrap& inner) {
        auto const me = static_cast<std::size_t>(inner.rank());
        OneStep step(inner, launched[me]);
        // Long enough that a busy machine does not miss ten starts in a row, after which the last one is kept.
        constexpr Nanoseconds margin_ns = SampleStart::margin_most_ns;
        LateBootstrap bootstrap(inner, [me](std::uint64_t n) { return me == 1 && n == 2 ? 50ms : 0ms; });
        Sampler sampler = step.sampler(bootstrap);
        sampler.set_start({bootstrap, step.clock(), {StartMethod::window, margin_ns, true}, true});
        SampleChunk const& chunk = sampler.run(0, 8);
        EXPECT_EQ(chunk.headline.size(), 8U);
        late[me] = chunk.late;
    });
    EXPECT_GE(late[0], 1U);  // a busy machine may add others
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(late[rank], late[0]);
        EXPECT_EQ(launched[rank].size(), 8 + late[0]);
    }
}

// Rank 1 leaves the barrier 20 ms after rank 0, and neither waits for the other in the sample.
TEST(Sampler, TheHeadlineIsTheLargestDurationOrTheSpanByTheIteration) {
    in_process::run_ranks(2, [](Bootstrap& inner) {
        std::vector<Nanoseconds> launched;
        OneStep step(inner, launched);
        LateBootstrap bootstrap(inner, [&inner](std::uint64_t) { return inner.rank() == 1 ? 20ms : 0ms; });
        Sampler sampler = step.sampler(bootstrap);
        sampler.set_iterations_per_sample(2);
        sampler.set_start({bootstrap, step.clock(), {StartMethod::barrier, 0, true}, true});
        SampleChunk const& largest = sampler.run(0, 1);
        EXPECT_EQ(definition_of(Mode::isolated, sampler),
                  "aggregated: iterations back to back behind a dissemination barrier, largest over ranks of (done - "
                  "enter) / iterations");
        EXPECT_EQ(largest.headline[0], (largest.samples[0].max_rank + 1) / 2);
        sampler.set_span(true);
        SampleChunk const& span = sampler.run(1, 1);
        EXPECT_EQ(span.headline[0], (span.samples[0].span + 1) / 2);
        EXPECT_GT(span.samples[0].span, span.samples[0].max_rank);
    });
}

constexpr StartFacts good_facts{.oversubscribed = false, .late_share = 0.1, .margin_ns = 60'000, .clock_error_ns = 500};

TEST(StartChoice, IsTheWindowWhereItCanBeKept) {
    StartPlan const plan = choose_start(StartRequest::automatic, good_facts, 10'000);
    EXPECT_EQ(plan.method, StartMethod::window);
    EXPECT_EQ(plan.margin_ns, 60'000);
    EXPECT_TRUE(plan.clock_is_good);  // 5 % of the sample
    EXPECT_EQ(choose_start(StartRequest::barrier, good_facts, 1e9).method, StartMethod::barrier);
}

TEST(StartChoice, IsTheBarrierWhereItCannotUnlessItIsAskedFor) {
    std::vector<StartFacts> facts(4, good_facts);
    facts[0].oversubscribed = true;
    facts[1].late_share = 0.3;
    facts[2].margin_ns = 1'000'001;
    facts[3].clock_error_ns = 501;  // more than 5 %
    for (StartFacts const& each : facts) {
        StartPlan const plan = choose_start(StartRequest::automatic, each, 10'000);
        EXPECT_EQ(plan.method, StartMethod::barrier);
        EXPECT_EQ(plan.clock_is_good, each.clock_error_ns == 500);
        StartPlan const wanted = choose_start(StartRequest::window, each, 10'000);
        EXPECT_EQ(wanted.method, StartMethod::window);
        EXPECT_EQ(wanted.clock_is_good, plan.clock_is_good);
    }
}

TEST(CommonStart, AllRanksMakeOnePlanWhateverTheirClocksShow) {
    std::vector<StartPlan> plans(3);
    in_process::run_ranks(3, [&](Bootstrap& bootstrap) {
        auto const me = static_cast<std::size_t>(bootstrap.rank());
        Nanoseconds const ahead = bootstrap.rank() * 3'000'000'000;
        CommonStart start(bootstrap, StartRequest::window, {{1, 0}, [ahead](Nanoseconds t) { return t + ahead; }});
        plans[me] = start.plan(me == 0 ? 1e12 : 1);  // what rank 0 expects decides
    });
    for (StartPlan const& plan : plans) {
        EXPECT_EQ(plan.method, StartMethod::window);
        EXPECT_GE(plan.margin_ns, 50'000);
        EXPECT_EQ(plan.margin_ns, plans[0].margin_ns);
        EXPECT_TRUE(plan.clock_is_good);
    }
}

// A start that lies in another clock's past or future would be 1000 s off.
TEST(CommonStart, RanksWhoseClocksDifferBySecondsAndDriftBeginTogether) {
    std::vector<std::vector<Nanoseconds>> began(3);
    in_process::run_ranks(3, [&](Bootstrap& bootstrap) {
        auto const me = static_cast<std::size_t>(bootstrap.rank());
        Nanoseconds const begin = now_ns();
        CommonClock clock(bootstrap, {{1, 0}, [me, begin](Nanoseconds t) {
                                          auto const rank = static_cast<Nanoseconds>(me);
                                          return t - rank * 1'000'000'000'000 + rank * (t - begin) / 10'000;
                                      }});
        SampleStart start(bootstrap, clock, {StartMethod::window, 30'000'000, true}, true);
        for (int sample = 0; sample < 3; ++sample) {
            start.wait();
            began[me].push_back(now_ns());
        }
    });
    for (std::size_t sample = 0; sample < 3; ++sample) {
        for (std::size_t rank = 1; rank < 3; ++rank) {
            EXPECT_LT(std::abs(began[rank][sample] - began[0][sample]), 500'000'000'000);
        }
    }
}

}  // namespace
}  // namespace dlmb::measure

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/plan_payload.hpp"
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/formats/plan/builder.hpp"
#include "tests/unit/in_process/in_process_world.hpp"
#include "tests/unit/in_process/layered_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

namespace dlmb::in_process::testing {
namespace {

TEST(CopyPlan, RunsManyIterationsInARowWithoutABarrierBetween) {
    run_test_ranks(4, [](TestRank& rank) {
        Plan const plan = layered_plan(rank.rank(), 4);
        auto const compiled = rank.compile(plan);
        PlanPayload payload(rank.space(), rank.buffers(), plan);
        for (std::uint32_t iteration = 0; iteration < 200; ++iteration) {
            payload.prepare(iteration);
            compiled->launch();
            compiled->finish();
            for (std::string const& problem : payload.verify(iteration)) {
                ADD_FAILURE() << "iteration " << iteration << " rank " << rank.rank() << ": " << problem;
            }
        }
    });
}

TEST(CopyPlan, MarksEveryStepOnceInOrderOfTimeAndOfDependence) {
    run_test_ranks(3, [](TestRank& rank) {
        Plan const plan = layered_plan(rank.rank(), 3);
        auto const compiled = rank.compile(plan);
        for (int iteration = 0; iteration < 20; ++iteration) {
            Nanoseconds const start = now_ns();
            compiled->launch();
            compiled->finish();
            auto const marks = compiled->marks();
            ASSERT_EQ(marks.size(), 3U);
            EXPECT_EQ(compiled->steps_done(), 3U);
            EXPECT_EQ(marks[0].step + marks[1].step, 1U);  // 0 and 1, in either order
            EXPECT_EQ(marks[2].step, 2U);
            EXPECT_LE(start, marks[0].time_ns);
            EXPECT_LE(marks[0].time_ns, marks[1].time_ns);
            EXPECT_EQ(marks[2].time_ns, PhaseMark::at_finish);
        }
    });
}

TEST(CopyPlan, SeveralCompiledPlansInOneSetOfBuffersDoNotMixUp) {
    run_test_ranks(3, [](TestRank& rank) {
        std::vector<Plan> const draws(3, layered_plan(rank.rank(), 3));
        Buffers const& buffers = rank.allocate(draws[0]);
        std::vector<std::unique_ptr<CompiledPlan>> compiled;
        for (Plan const& draw : draws) {
            compiled.push_back(std::move(rank.backend().compile(draw, buffers, {})).value());
        }
        PlanPayload payload(rank.space(), buffers, draws[0]);
        for (std::uint32_t iteration = 0; iteration < 30; ++iteration) {
            payload.prepare(iteration);
            compiled[iteration * 7 % 3]->launch();
            compiled[iteration * 7 % 3]->finish();
            EXPECT_TRUE(payload.verify(iteration).empty()) << iteration;
        }
    });
}

TEST(CopyPlan, ComputeTakesItsTimeAndIsMarkedAfterIt) {
    run_test_ranks(2, [](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        builder.compute(2'000'000, "busy");
        auto const compiled = rank.compile(std::move(builder).finish());
        Nanoseconds const start = now_ns();
        compiled->launch();
        compiled->finish();
        EXPECT_GE(now_ns() - start, 2'000'000);  // a lower bound holds on any machine
    });
}

TEST(CopyPlan, AnEmptyPlanRuns) {
    run_test_ranks(2, [](TestRank& rank) {
        auto const compiled = rank.compile(Plan{.me = rank.rank(), .groups = {}, .buffers = {}, .steps = {}});
        compiled->launch();
        compiled->finish();
        EXPECT_EQ(compiled->steps_done(), 0U);
    });
}

// Sums of 1/3, 1e8 and others depend on their order in fp32: only a fixed order gives all ranks the same bits.
TEST(CopyPlan, EveryRankGetsTheSameBitsFromAReductionThatIsNotAssociative) {
    constexpr int ranks = 7;
    std::array<float, ranks> results{};
    run_test_ranks(ranks, [&results](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        builder.all_reduce(builder.group(world_of(ranks)), 4, Element::fp32, Reduction::sum, "reduce");
        Plan const plan = std::move(builder).finish();
        auto const compiled = rank.compile(plan);
        constexpr std::array<float, ranks> inputs{1e8F, 1.0F / 3, -1e8F, 7.77F, 1e7F, -0.1F, 3e-3F};
        auto const& reduce = std::get<Collective>(plan.steps[0].operation);
        std::memcpy(rank.buffers().base[reduce.send.buffer] + reduce.send.offset,
                    &inputs.at(static_cast<std::size_t>(rank.rank())), 4);
        compiled->launch();
        compiled->finish();
        std::memcpy(&results.at(static_cast<std::size_t>(rank.rank())),
                    rank.buffers().base[reduce.recv.buffer] + reduce.recv.offset, 4);
    });
    for (float const result : results) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result), std::bit_cast<std::uint32_t>(results[0]))
            << result << " and " << results[0];
    }
}

TEST(CopyPlan, ARankThatFailsBetweenLaunchAndFinishReleasesThoseWhoWaitForIt) {
    std::atomic<int> left{0};
    std::string const text = error_of(3, [&left](TestRank& rank) {
        try {  // a slow rank may learn of the failure before it reaches finish()
            auto const compiled = rank.compile(layered_plan(rank.rank(), 3));
            compiled->launch();
            if (rank.rank() == 1) {
                throw Error("the cable was cut");
            }
            compiled->finish();
        } catch (PeerFailed const&) {
            ++left;
            throw;
        }
    });
    EXPECT_NE(text.find("rank 1: the cable was cut"), std::string::npos) << text;
    EXPECT_EQ(left, 2);
}

}  // namespace
}  // namespace dlmb::in_process::testing

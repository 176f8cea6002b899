// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Extra work in bubbles: what PipeFisher (arXiv 2211.14133) claims, against a simulation of the plans that knows
// nothing of schedules, and the rules of the order.
#include "common/base/error.hpp"
#include "patterns/pipeline_p2p/fill.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"
#include "tests/unit/pipeline_p2p/plan_simulation.hpp"

#include <gtest/gtest.h>

namespace dlmb::pipeline_p2p {
namespace {

constexpr int pass_us = 60;

/// N = D, F = B.
Parameters square(char const* schedule, int microbatches, std::string const& fill, char const* reserve = "5") {
    std::string const us = std::to_string(pass_us);
    return {{"schedule", schedule}, {"mode", "separate"},       {"sequence", "16"},
            {"hidden", "16"},       {"compute", "busy"},        {"microbatches", std::to_string(microbatches)},
            {"forward-us", us},     {"backward-us", us},        {"weight-us", "30"},
            {"bubble-fill", fill},  {"bubble-reserve", reserve}};
}

/// `us` of work on each rank in pieces of 1 us.
std::string work_of(int us) {
    return "compute@1x" + std::to_string(us);
}

Nanoseconds simulated_us(Parameters const& parameters, int ranks) {
    return PlanSimulation(plans_of(parameters, ranks)).makespan() / 1000;
}

TEST(BubbleFill, OneForwardOneBackwardIdlesTwiceDMinus1SlotsOnEachStage) {
    for (int const ranks : {2, 4, 8}) {
        ScheduleShape shape;
        shape.ranks = ranks;
        shape.microbatches = ranks;
        Filling const filling = fill_bubbles(shape, {pass_us, pass_us, pass_us / 2, pass_us / 2}, {}, 0.05);
        EXPECT_EQ(filling.bubble, ranks * 2 * (ranks - 1) * pass_us);
        EXPECT_EQ(filling.makespan, (2 * ranks - 1) * 2 * pass_us);
        EXPECT_EQ(filling.utilisation(), 0);
    }
}

TEST(BubbleFill, LessThan95PercentOfTheBubbleLeavesTheMakespan) {
    for (int const ranks : {2, 4, 8}) {
        int const bubble = 2 * (ranks - 1) * pass_us;
        Parameters const filled = square("1f1b", ranks, work_of(bubble * 94 / 100));
        EXPECT_EQ(simulated_us(filled, ranks), (2 * ranks - 1) * 2 * pass_us) << ranks;
        auto const pattern = make_pipeline(filled, {ranks, ranks});
        EXPECT_EQ(statistic(*pattern, "filled_makespan_us"), statistic(*pattern, "ideal_makespan_us"));
        EXPECT_EQ(statistic(*pattern, "bubble_us"), bubble);
        EXPECT_NEAR(statistic(*pattern, "bubble_utilisation"), 0.94, 0.01);
    }
}

TEST(BubbleFill, MoreThanTheBubbleMovesTheEndByExactlyTheExcess) {
    for (char const* schedule : {"gpipe", "1f1b"}) {
        for (int const ranks : {2, 4, 8}) {
            int const bubble = 2 * (ranks - 1) * pass_us;
            for (int const excess : {0, 1, 17, 3 * pass_us}) {
                Parameters const filled = square(schedule, ranks, work_of(bubble + excess), "0");
                EXPECT_EQ(simulated_us(filled, ranks), (2 * ranks - 1) * 2 * pass_us + excess) << schedule << ranks;
                auto const pattern = make_pipeline(filled, {ranks, ranks});
                EXPECT_EQ(statistic(*pattern, "bubble_utilisation"), 1);
                EXPECT_EQ(statistic(*pattern, "fill_us"), bubble + excess);
            }
        }
    }
}

TEST(BubbleFill, EndsWhenASimulationOfThePlansSays) {
    for (char const* schedule : schedules) {
        for (char const* fill : {"compute@37x5", "forward.compute@7+backward.compute@11/compute@90",
                                 "compute@500/backward.compute@3x2", "backward.compute@64"}) {
            Parameters const parameters =
                with(square(schedule, 8, fill), {{"backward-us", "100"}, {"weight-us", "40"}});
            auto const pattern = make_pipeline(parameters, {4, 4});
            EXPECT_EQ(static_cast<double>(simulated_us(parameters, 4)), statistic(*pattern, "filled_makespan_us"))
                << schedule << ' ' << fill;
        }
    }
}

TEST(BubbleFill, BeginsNothingBeforeItIsReleasedOrItsPhaseIsOpen) {
    for (char const* schedule : schedules) {
        Parameters const parameters = square(schedule, 8, "forward.compute@1x2/compute@2");
        for (Plan const& plan : plans_of(parameters, 4)) {
            int forwards = 0;
            int factors = 0;
            int inversions = 0;
            for (Step const& step : plan.steps) {
                forwards += step.label.starts_with("compute.forward") ? 1 : 0;
                if (step.label == "fill.compute") {
                    bool const is_factor = std::get<Compute>(step.operation).busy_ns == 1000;
                    factors += is_factor ? 1 : 0;
                    inversions += is_factor ? 0 : 1;
                    EXPECT_LE(factors, 2 * forwards) << schedule;
                    EXPECT_EQ(inversions == 0, is_factor) << schedule << ": the last of all";
                }
            }
            EXPECT_EQ(factors, 2 * forwards) << schedule;
            EXPECT_EQ(inversions, 1) << schedule;
        }
    }
}

TEST(BubbleFill, OperationsGoOverTheCopiesOfAStageAndMatchOnAllRanks) {
    std::string const fill = "forward.compute@5/reduce_scatter:64@3+allgather:64@3/allreduce:128@9x2";
    for (char const* schedule : schedules) {
        for (char const* mode : modes) {
            Parameters const parameters = with(square(schedule, 8, fill), {{"mode", mode}, {"pp", "2"}, {"tp", "2"}});
            auto const plans = plans_of(parameters, 8);
            EXPECT_EQ(problem_of(plans), "") << schedule << ' ' << mode;
            Plan const& plan = plans.at(1);
            ASSERT_EQ(steps_with(plan, "fill.allreduce").size(), 2U);
            auto const& all_reduce = std::get<Collective>(steps_with(plan, "fill.allreduce").at(0)->operation);
            EXPECT_EQ(plan.groups[all_reduce.group].members, (std::vector<Rank>{1, 3}));
            EXPECT_EQ(steps_with(plan, "fill.reduce_scatter").size(), 1U);
            EXPECT_EQ(steps_with(plan, "fill.allgather").size(), 1U);
        }
    }
}

TEST(BubbleFill, ChangesNothingElse) {
    auto const without_fill = [](Plan const& plan) {
        std::vector<std::string> labels;
        for (Step const& step : plan.steps) {
            if (!step.label.starts_with("fill.")) {
                labels.push_back(step.label);
            }
        }
        return labels;
    };
    auto const plain = plans_of(square("1f1b", 8, "none"), 4);
    auto const filled = plans_of(square("1f1b", 8, "compute@10x20"), 4);
    for (std::size_t rank = 0; rank < plain.size(); ++rank) {
        EXPECT_EQ(without_fill(filled[rank]), without_fill(plain[rank]));
    }
    EXPECT_EQ(statistic(*make_pipeline(square("1f1b", 8, "none"), {4, 4}), "bubble_us"), -1) << "there is none";
}

TEST(BubbleFill, IsReadStrictly) {
    EXPECT_EQ(parse_fill("backward.allreduce:4K@1.5x3/compute@2"),
              (std::vector<FillItem>{{Release::backward, OperationKind::all_reduce, 4096, 1500, 3, 0},
                                     {Release::start, OperationKind::compute, 0, 2000, 1, 1}}));
    for (char const* bad : {"", "compute", "compute:4@3", "allreduce@3", "allreduce:3@4", "allreduce:0@4", "compute@0",
                            "compute@-1", "compute@1x0", "compute@1x5000", "barrier@3", "compute@3+", "x.compute@3",
                            "compute@3xx2", "compute@nan", "allreduce:4M@3@2"}) {
        EXPECT_THROW((void)parse_fill(bad), UsageError) << bad;
    }
    EXPECT_THROW((void)make_pipeline({{"bubble-fill", "compute@3"}}, {4, 4}), UsageError) << "no --compute";
    EXPECT_THROW((void)make_pipeline(square("1f1b", 4, "allreduce:64@3"), {4, 4}), UsageError) << "one copy";
    EXPECT_THROW((void)make_pipeline(with(square("1f1b", 4, "allgather:64@3"), {{"pp", "1"}}), {3, 3}), UsageError)
        << "16 values on 3 copies";
}

}  // namespace
}  // namespace dlmb::pipeline_p2p

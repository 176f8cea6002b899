// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/plan/waves.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Waves = std::vector<std::vector<StepId>>;

Plan plan_with(std::vector<std::vector<StepId>> const& after) {
    Plan plan;
    for (std::vector<StepId> const& earlier : after) {
        plan.steps.push_back({Compute{}, earlier, "work"});
    }
    return plan;
}

TEST(Waves, AnEmptyPlanHasNone) {
    EXPECT_EQ(waves(Plan{}), Waves{});
}

TEST(Waves, IndependentStepsShareOneInPlanOrder) {
    EXPECT_EQ(waves(plan_with({{}, {}, {}})), (Waves{{0, 1, 2}}));
}

TEST(Waves, AChainHasOneStepEach) {
    EXPECT_EQ(waves(plan_with({{}, {0}, {1}})), (Waves{{0}, {1}, {2}}));
}

TEST(Waves, ADiamondMeetsAfterItsLongerSide) {
    // 0 -> 1 -> 2 -> 4 and 0 -> 3 -> 4: step 4 is four deep by its longer side.
    EXPECT_EQ(waves(plan_with({{}, {0}, {1}, {0}, {2, 3}})), (Waves{{0}, {1, 3}, {2}, {4}}));
}

TEST(Waves, AStepMayStandFarBehindWhatItWaitsFor) {
    EXPECT_EQ(waves(plan_with({{}, {}, {0}, {}})), (Waves{{0, 1, 3}, {2}}));
}

TEST(Waves, AStepThatWaitsForItselfIsRefused) {
    Plan plan = plan_with({{}, {1}});
    plan.me = 7;
    try {
        std::ignore = waves(plan);
        FAIL() << "no exception";
    } catch (Error const& error) {
        EXPECT_NE(std::string(error.what()).find("rank 7 step 1 \"work\" waits for step 1"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace dlmb

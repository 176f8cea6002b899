// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/local_work.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

Plan steps_after(std::vector<std::vector<StepId>> const& after) {
    Plan plan;
    for (std::vector<StepId> const& each : after) {
        plan.steps.push_back({Compute{}, each, "step"});
    }
    return plan;
}

TEST(Scratch, IsSharedByStepsThatFollowEachOther) {
    ScratchLayout const layout = lay_out_scratch(steps_after({{}, {0}, {1}}), {100, 5000, 1});
    EXPECT_EQ(layout.offsets, (std::vector<Bytes>{0, 0, 0}));
    EXPECT_EQ(layout.bytes, 8192U) << "whole pages of the largest";
    EXPECT_EQ(lay_out_scratch(steps_after({{}, {}}), {0, 0}).bytes, 0U);
}

TEST(Scratch, IsNotSharedByStepsThatMayRunSideBySide) {
    // A diamond: 1 and 2 side by side, 3 behind both.
    ScratchLayout const layout = lay_out_scratch(steps_after({{}, {0}, {0}, {1, 2}}), {10, 10, 10, 10});
    EXPECT_NE(layout.offsets[1], layout.offsets[2]);
    EXPECT_EQ(layout.bytes, 8192U);
}

}  // namespace
}  // namespace dlmb::ucx

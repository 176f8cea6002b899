// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <gtest/gtest.h>

namespace dlmb::algorithms::data_flow_test {
namespace {

using Waits = std::vector<std::uint32_t>;

constexpr Area input{Space::input, 0};
constexpr Area output{Space::output, 0};

TEST(DataFlow, AReaderWaitsForTheWritersOfItsBytesOnly) {
    MicroPlanner planner;
    planner.receive(1, output, 10);
    planner.receive(1, output + 10, 10);
    planner.receive(2, output + 20, 10);
    planner.send(3, output + 5, 10);
    EXPECT_EQ(std::move(planner).finish().steps[3].after, (Waits{0, 1}));
}

TEST(DataFlow, AnOverwriterWaitsForReadersAndWriters) {
    MicroPlanner planner;
    planner.receive(1, output, 10);
    planner.send(2, output + 8, 2);
    planner.receive(1, output + 4, 20);
    EXPECT_EQ(std::move(planner).finish().steps[2].after, (Waits{0, 1}));
}

TEST(DataFlow, ReadersDoNotWaitForEachOtherNorDifferentSpaces) {
    MicroPlanner planner;
    planner.send(1, input, 10);
    planner.send(2, input, 10);
    planner.receive(1, output, 10);
    for (MicroStep const& step : std::move(planner).finish().steps) {
        EXPECT_EQ(step.after, Waits{});
    }
}

TEST(DataFlow, AReductionIntoItsOperandDoesNotWaitForItself) {
    MicroPlanner planner;
    Area const theirs = planner.scratch(8);
    planner.receive(1, theirs, 8);
    planner.reduce(theirs, theirs, input, 8);
    planner.send(2, theirs, 8);
    MicroPlan const plan = std::move(planner).finish();
    EXPECT_EQ(plan.steps[1].after, Waits{0});
    EXPECT_EQ(plan.steps[2].after, Waits{1});
}

TEST(MicroPlanner, LeavesOutEmptyStepsAndCopiesToThemselves) {
    MicroPlanner planner;
    planner.send(1, input, 0);
    planner.copy(output, output, 8);
    EXPECT_TRUE(std::move(planner).finish().steps.empty());
}

TEST(MicroPlanner, ScratchAreasDoNotOverlap) {
    MicroPlanner planner;
    Area const first = planner.scratch(65);
    Area const second = planner.scratch(1);
    EXPECT_GE(second.offset, first.offset + 65);
    EXPECT_GE(std::move(planner).finish().scratch_bytes, second.offset + 1);
}

TEST(Parts, DifferByAtMostOneElementAndCoverTheBuffer) {
    Parts const parts(Bytes{7} * 4, Element::fp32, 3);  // 3, 2 and 2 elements
    EXPECT_EQ(parts.bytes(0), 12U);
    EXPECT_EQ(parts.bytes(1), 8U);
    EXPECT_EQ(parts.bytes(2), 8U);
    EXPECT_EQ(parts.begin(3), 28U);
}

}  // namespace
}  // namespace dlmb::algorithms::data_flow_test

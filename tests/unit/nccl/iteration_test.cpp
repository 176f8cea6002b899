// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Iterations as a device runs them: behind a gate, and with computations that come first.
#include "common/memory/device_gate.hpp"
#include "common/memory/device_queue.hpp"
#include "tests/unit/nccl/double_rig.hpp"

#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

// As the host meets it that follows a graph: its events are taken back when it is replayed.
TEST(TimedEvent, HasNoTimeWhileTheDeviceHasYetToReachItAgain) {
    DeviceQueue queue;
    TimedEvent begin;
    TimedEvent end;
    begin.record(queue);
    end.record(queue);
    queue.drain();
    EXPECT_GE(end.since_if_reached(begin).value_or(-1), 0);
    DeviceGate gate;
    gate.close(queue);
    end.record(queue);
    EXPECT_EQ(end.since_if_reached(begin), std::nullopt);
    EXPECT_THROW((void)end.since(begin), Error);
    gate.open();
    queue.drain();
    EXPECT_GE(end.since_if_reached(begin).value_or(-1), 0);
}

class NcclIteration : public testing::TestWithParam<char const*> {};

TEST_P(NcclIteration, WaitsBehindAGateUntilItIsOpened) {
    RankOnDouble rank;
    auto const compiled = rank.compile(all_reduce_plan(rank), GetParam());
    DeviceGate gate;
    ASSERT_TRUE(compiled->launch_behind(gate));
    rank.bootstrap().barrier();
    EXPECT_EQ(compiled->steps_done(), 0U);
    gate.open();
    compiled->finish();
    EXPECT_EQ(compiled->steps_done(), 1U);
    EXPECT_FALSE(gate.ran_out());
    EXPECT_GE(compiled->device_ns().value_or(-1), 0);
}

TEST_P(NcclIteration, AComputationThatComesFirstStartsWithTheIteration) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    StepId const computed = builder.compute(2'000'000, "compute");
    StepId const reduced =
        builder.all_reduce(builder.group(rank.world()), 1024, Element::fp32, Reduction::sum, "gradients", {computed});
    auto const compiled = rank.compile(std::move(builder).finish(), GetParam());
    for (int iteration = 0; iteration < 2; ++iteration) {
        compiled->launch();
        compiled->finish();
        auto const marks = compiled->marks();
        ASSERT_EQ(marks.size(), 2U);
        EXPECT_EQ(marks[0].step, computed);
        EXPECT_EQ(marks[1].step, reduced);
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, NcclIteration, testing::Values("native", "graph", "registered"));

}  // namespace
}  // namespace dlmb::nccl

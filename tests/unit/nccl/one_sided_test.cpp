// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals as calls: their order, what is counted, and who waits for a permission to write.
#include "common/backends/nccl/one_sided.hpp"
#include "tests/unit/nccl/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::ElementsAre;

class PutsAndWaits : public testing::Test {
protected:
    StepId put(std::vector<StepId> after = {}) {
        return builder.put(world, {{1, 2}, {2, 0}}, places, "put", std::move(after));
    }
    StepId wait(std::vector<StepId> after = {}) {
        return builder.wait_signal(world, {{1, 2}, {2, 0}}, places, 0, "wait", std::move(after));
    }
    /// Of a rank whose first put needs permissions of both peers, and that grants one to the second.
    [[nodiscard]] static SignalTable table(StepId put) {
        SignalTable made;
        made.puts = {{.step = put,
                      .signals = {{.peer = 1, .first = 0, .blocks = 2, .buffer = 1}, {.peer = 2, .first = 2}},
                      .peers = {1, 2},
                      .permissions = {7, 8}}};
        made.granted = {{2, 9}};
        return made;
    }
    [[nodiscard]] static std::vector<std::pair<int, int>> awaited(OneSidedCall const& call) {
        std::vector<std::pair<int, int>> counts;
        for (AwaitedCount const& each : call.waits) {
            counts.emplace_back(each.peer, each.count);
        }
        return counts;
    }

    std::vector<PlacedBytes> const places{{64, 8}, {32, 16}};
    PlanBuilder builder{0};
    GroupId world = builder.group(group_of({0, 1, 2}));
    ncclComm_t comm = FakeCommunicators(3).world();
};

TEST_F(PutsAndWaits, AWaitComesBeforeTheFirstStepThatNeedsIt) {
    StepId const first = wait();
    StepId const second = wait();
    StepId const independent = put();
    StepId const dependent = builder.compute(1000, "use", {first});
    EXPECT_THAT(stream_order(std::move(builder).finish()), ElementsAre(independent, first, dependent, second));
}

TEST_F(PutsAndWaits, EveryBlockIsASignalAndSoIsASignalWithoutBlocks) {
    StepId const step = put();
    Plan const plan = std::move(builder).finish();
    Buffers const buffers = fake_buffers(plan);
    int window = 0;
    OneSidedCalls calls(plan, buffers, comm, table(step), {nullptr, &window});
    OneSidedCall const call = calls.call_of(step);
    ASSERT_EQ(call.writes.size(), 3U);
    EXPECT_EQ(call.writes[0].window, &window);
    EXPECT_EQ(call.writes[0].offset, 64U);
    EXPECT_EQ(call.writes[1].offset, 32U);
    EXPECT_EQ(call.writes[1].bytes, 16U);
    EXPECT_EQ(call.writes[2].peer, 2);
    EXPECT_EQ(call.writes[2].bytes, 0U);
}

TEST_F(PutsAndWaits, APermissionIsTheFirstSignalThatIsCounted) {
    StepId const first = put();
    StepId const arrived = wait();
    Plan const plan = std::move(builder).finish();
    Buffers const buffers = fake_buffers(plan);
    OneSidedCalls calls(plan, buffers, comm, table(first), {nullptr, nullptr});
    ASSERT_EQ(calls.grants().writes.size(), 1U);
    EXPECT_EQ(calls.grants().writes.front().peer, 2);
    EXPECT_THAT(awaited(calls.permissions_for(first)), ElementsAre(std::pair(1, 1), std::pair(2, 1)));
    EXPECT_TRUE(awaited(calls.permissions_for(arrived)).empty());
    EXPECT_THAT(awaited(calls.call_of(arrived)), ElementsAre(std::pair(1, 2), std::pair(2, 1)));
}

TEST_F(PutsAndWaits, AWaitForSignalsTakesThePermissionThatCameBeforeThem) {
    StepId const arrived = wait();
    StepId const used = builder.compute(1000, "use", {arrived});
    StepId const step = put({used});
    Plan const plan = std::move(builder).finish();
    Buffers const buffers = fake_buffers(plan);
    OneSidedCalls calls(plan, buffers, comm, table(step), {nullptr, nullptr});
    EXPECT_THAT(awaited(calls.call_of(arrived)), ElementsAre(std::pair(1, 3), std::pair(2, 2)));
    EXPECT_TRUE(awaited(calls.permissions_for(step)).empty());
}

}  // namespace
}  // namespace dlmb::nccl

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/registration.hpp"
#include "tests/unit/nccl/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

std::vector<std::string> names(Plan const& plan, std::vector<BufferId> const& buffers) {
    std::vector<std::string> found;
    for (BufferId const buffer : buffers) {
        found.push_back(plan.buffers[buffer].name);
    }
    return found;
}

TEST(BufferUses, EachBufferOnceByTheGroupThatUsesIt) {
    PlanBuilder builder(0);
    GroupId const world = builder.group(group_of({0, 1}));
    builder.all_reduce(world, 64, Element::fp32, Reduction::sum, "reduce");
    builder.send(world, 1, 8, 0, -1, "out");
    Plan plan = std::move(builder).finish();
    plan.steps.push_back(plan.steps[0]);
    auto const uses = collective_uses(plan);
    ASSERT_EQ(uses.size(), 1U);
    EXPECT_THAT(names(plan, uses.at({0, 1})), testing::ElementsAre("reduce.send", "reduce.recv"));
    EXPECT_THAT(names(plan, message_uses(plan)), testing::ElementsAre("out.send"));
}

TEST(BufferUses, NothingIsRegisteredOfAnEmptyBuffer) {
    PlanBuilder builder(0);
    GroupId const world = builder.group(group_of({0, 1}));
    builder.exchange(world, std::vector<Bytes>{0, 0}, std::vector<Bytes>{0, 0}, "nothing");
    Plan plan = std::move(builder).finish();
    for (Buffer& buffer : plan.buffers) {
        buffer.bytes = 0;
    }
    EXPECT_THAT(collective_uses(plan).at({0, 1}), testing::IsEmpty());
}

}  // namespace
}  // namespace dlmb::nccl

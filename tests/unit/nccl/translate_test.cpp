// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which steps share a call, in which order calls stand, and where one stream waits for the other.
#include "tests/unit/nccl/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::ElementsAre;

class Translation : public testing::Test {
protected:
    [[nodiscard]] std::vector<Item> items() { return items_of(std::move(builder).finish(), communicators); }
    StepId send(std::vector<StepId> after = {}) { return builder.send(world, 1, 8, 0, -1, "out", std::move(after)); }
    StepId recv(std::vector<StepId> after = {}) { return builder.recv(world, 2, 8, 0, -1, "in", std::move(after)); }
    StepId all_reduce(std::vector<StepId> after = {}) {
        return builder.all_reduce(world, 64, Element::fp32, Reduction::sum, "reduce", std::move(after));
    }
    StepId compute(std::vector<StepId> after = {}) { return builder.compute(1000, "compute", std::move(after)); }

    FakeCommunicators communicators{4};
    PlanBuilder builder{0};
    GroupId world = builder.group(group_of({0, 1, 2, 3}));
};

TEST_F(Translation, MessagesThatStandTogetherAndDoNotWaitForEachOtherAreOneGroup) {
    send();
    recv();
    send();
    auto const made = items();
    ASSERT_EQ(made.size(), 1U);
    EXPECT_THAT(made[0].steps, ElementsAre(0U, 1U, 2U));
    auto const& group = std::get<GroupedCall>(made[0].work);
    EXPECT_EQ(group.sends.size(), 2U);
    EXPECT_EQ(group.receives.size(), 1U);
}

TEST_F(Translation, WindowsBothWaysAreOneGroup) {
    builder.recv(world, 2, 8, 0, 0, "in", {}, {3, 16});
    builder.send(world, 2, 8, 0, 0, "out", {}, {5, 0});
    auto const made = items();
    ASSERT_EQ(made.size(), 1U);
    auto const& group = std::get<GroupedCall>(made[0].work);
    ASSERT_EQ(group.receives.size(), 3U);
    EXPECT_EQ(group.receives[2].data - group.receives[0].data, 32);
    ASSERT_EQ(group.sends.size(), 5U);
    EXPECT_EQ(group.sends[4].data, group.sends[0].data);
}

TEST_F(Translation, AMessageThatWaitsForAnotherIsIssuedBehindIt) {
    StepId const first = recv();
    send({first});
    auto const made = items();
    ASSERT_EQ(made.size(), 2U);
    EXPECT_THAT(made[1].steps, ElementsAre(1U));
}

TEST_F(Translation, AMessageGoesWithTheFirstGroupThatItCanGoWith) {
    StepId const first = recv();
    send({first});
    builder.send(world, 3, 8, 1, -1, "other", {});
    auto const made = items();
    ASSERT_EQ(made.size(), 2U);
    EXPECT_THAT(made[0].steps, ElementsAre(0U, 2U));
}

TEST_F(Translation, AMessageDoesNotOvertakeItsChannel) {
    StepId const first = recv();
    send({first});
    send();
    auto const made = items();
    ASSERT_EQ(made.size(), 2U);
    EXPECT_THAT(made[1].steps, ElementsAre(1U, 2U));
}

TEST_F(Translation, ACollectiveBetweenMessagesEndsTheirGroup) {
    send();
    all_reduce();
    send();
    EXPECT_EQ(items().size(), 3U);
}

TEST_F(Translation, AGroupDoesNotWaitForALaterComputation) {
    StepId const first = compute();
    send({first});
    StepId const second = compute({first});
    send({second});
    auto const made = items();
    ASSERT_EQ(made.size(), 4U);
    EXPECT_EQ(made[1].wait, 0U);
    EXPECT_EQ(made[3].wait, 2U);
}

TEST_F(Translation, AComputationDoesNotWaitForMessagesBehindThoseItNeeds) {
    StepId const first = recv();
    compute({first});
    recv();
    auto const made = items();
    ASSERT_EQ(made.size(), 3U);
    EXPECT_THAT(made[0].steps, ElementsAre(0U));
    EXPECT_EQ(made[1].wait, 0U);
    EXPECT_EQ(made[2].wait, std::nullopt);
}

TEST_F(Translation, StreamsDoNotWaitForEachOtherWithoutNeed) {
    compute();
    all_reduce();
    compute();
    for (Item const& item : items()) {
        EXPECT_EQ(item.wait, std::nullopt);
    }
}

TEST_F(Translation, AWaitThatAnEarlierOneImpliesIsLeftOut) {
    StepId const first = compute();
    StepId const second = compute();
    all_reduce({second});
    all_reduce({first});
    auto const made = items();
    EXPECT_EQ(made[2].wait, 1U);
    EXPECT_EQ(made[3].wait, std::nullopt);
}

TEST_F(Translation, OfSeveralComputationsTheLastIsWaitedFor) {
    StepId const first = compute();
    StepId const second = compute();
    all_reduce({second, first});
    EXPECT_EQ(items()[2].wait, 1U);
}

}  // namespace
}  // namespace dlmb::nccl

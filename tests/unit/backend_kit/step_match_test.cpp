// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/step_match.hpp"
#include "common/formats/plan/builder.hpp"

#include <gtest/gtest.h>

#include <set>

namespace dlmb::step_match_test {
namespace {

TEST(StepMatch, ASendAndItsReceiveAgreeWhateverTheirStepIds) {
    PlanBuilder sender(0);
    GroupId const all = sender.group({{0, 1}});
    sender.compute(1, "busy");
    sender.send(all, 1, 8, 0, -1, "first");
    sender.send(all, 1, 8, 0, -1, "second");
    sender.send(all, 1, 8, 3, -1, "other_channel");
    PlanBuilder receiver(1);
    receiver.group({{0, 1}});
    receiver.recv(all, 0, 8, 3, -1, "other_channel");
    receiver.recv(all, 0, 8, 0, -1, "first");
    receiver.recv(all, 0, 8, 0, -1, "second");

    std::vector<StepMatch> const out = match_steps(std::move(sender).finish());
    std::vector<StepMatch> const in = match_steps(std::move(receiver).finish());
    EXPECT_EQ(out[1], in[1]);
    EXPECT_EQ(out[2], in[2]);
    EXPECT_EQ(out[3], in[0]);
    EXPECT_EQ(step_number(out[3]), step_number(in[0]));
    EXPECT_EQ((std::set<std::uint32_t>{step_number(out[1]), step_number(out[2]), step_number(out[3])}).size(), 3U);
}

TEST(StepMatch, CollectivesAreCountedPerGroupByItsMembersNotItsId) {
    PlanBuilder first(0);
    GroupId const world = first.group({{0, 1, 2, 3}});
    GroupId const even = first.group({{0, 2}});
    first.all_gather(world, 4, Element::byte, "a");
    first.all_gather(even, 4, Element::byte, "b");
    first.all_gather(world, 4, Element::byte, "c");
    PlanBuilder second(2);
    GroupId const even_there = second.group({{0, 2}});
    GroupId const world_there = second.group({{0, 1, 2, 3}});
    second.all_gather(even_there, 4, Element::byte, "b");
    second.all_gather(world_there, 4, Element::byte, "a");
    second.all_gather(world_there, 4, Element::byte, "c");

    std::vector<StepMatch> const a = match_steps(std::move(first).finish());
    std::vector<StepMatch> const b = match_steps(std::move(second).finish());
    EXPECT_EQ(a[0], b[1]);
    EXPECT_EQ(a[1], b[0]);
    EXPECT_EQ(a[2], b[2]);
    EXPECT_NE(a[0], a[2]);
}

TEST(StepMatch, AMessageToSelfHasTwoEndsThatAgree) {
    PlanBuilder builder(1);
    GroupId const all = builder.group({{0, 1}});
    builder.send(all, 1, 8, 0, -1, "out");
    builder.recv(all, 1, 8, 0, -1, "in");
    std::vector<StepMatch> const matches = match_steps(std::move(builder).finish());
    EXPECT_EQ(matches[0], matches[1]);
}

}  // namespace
}  // namespace dlmb::step_match_test

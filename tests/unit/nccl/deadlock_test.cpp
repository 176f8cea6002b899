// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/deadlock.hpp"
#include "tests/unit/nccl/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::ElementsAre;
using testing::Optional;

class Deadlock : public testing::Test {
protected:
    /// Two of three ranks, which are one group, and all three.
    struct Builder : PlanBuilder {
        explicit Builder(Rank rank) : PlanBuilder(rank), me(rank) {}
        void message(Rank from, Rank to, std::vector<StepId> after = {}) {
            last = from == me ? send(all, to, 8, 0, -1, "out", std::move(after))
                              : recv(all, from, 8, 0, -1, "in", std::move(after));
        }
        void reduce_in(GroupId group) { last = all_reduce(group, 64, Element::fp32, Reduction::sum, "reduce"); }
        void exchange_in(GroupId group, std::vector<Bytes> const& bytes) {
            last = exchange(group, bytes, bytes, "exchange");
        }

        Rank me;
        GroupId all = group(group_of({0, 1, 2}));
        GroupId two = group(group_of({1, 0}));
        StepId last = 0;
    };

    [[nodiscard]] std::vector<std::optional<std::uint32_t>> waiting() {
        FakeCommunicators communicators(3);
        std::vector<std::vector<CallPart>> parts;
        for (Builder& builder : ranks) {
            Plan const plan = std::move(builder).finish();
            parts.push_back(parts_of(plan, items_of(plan, communicators), communicators.lookup(), 3));
        }
        return deadlocked(parts);
    }

    std::vector<Builder> ranks{Builder(0), Builder(1), Builder(2)};
};

TEST_F(Deadlock, ASendBeforeACollectiveThatItsReceiverTakesFirst) {
    ranks[0].message(0, 1);
    for (Builder& rank : ranks) {
        rank.reduce_in(rank.all);
    }
    ranks[1].message(0, 1);
    EXPECT_THAT(waiting(), ElementsAre(Optional(0U), Optional(0U), Optional(0U)));
}

TEST_F(Deadlock, TheSameInOneOrderEnds) {
    ranks[0].message(0, 1);
    ranks[1].message(0, 1);
    for (Builder& rank : ranks) {
        rank.reduce_in(rank.all);
    }
    ranks[2].message(2, 0);
    ranks[0].message(2, 0);
    EXPECT_THAT(waiting(), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
}

TEST_F(Deadlock, CollectivesOfTwoCommunicatorsInDifferentOrders) {
    ranks[0].reduce_in(ranks[0].two);
    for (Builder& rank : ranks) {
        rank.reduce_in(rank.all);
    }
    ranks[1].reduce_in(ranks[1].two);
    EXPECT_THAT(waiting(), ElementsAre(Optional(0U), Optional(0U), Optional(0U)));
}

TEST_F(Deadlock, AnExchangeWaitsOnlyForRanksThatItHasBlocksOf) {
    ranks[0].exchange_in(ranks[0].all, {0, 8, 0});
    ranks[0].message(0, 2);
    ranks[1].exchange_in(ranks[1].all, {8, 0, 0});
    ranks[2].message(0, 2);
    ranks[2].exchange_in(ranks[2].all, {0, 0, 0});
    EXPECT_THAT(waiting(), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
}

TEST_F(Deadlock, RanksOfAGroupAreThoseOfTheWorld) {
    ranks[0].exchange_in(ranks[0].two, {8, 0});
    ranks[1].exchange_in(ranks[1].two, {0, 8});
    EXPECT_THAT(waiting(), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
}

TEST_F(Deadlock, WhatFollowsAMessageThatNobodyReceivesNeverStarts) {
    ranks[0].message(0, 1);
    ranks[0].message(0, 2, {ranks[0].last});
    ranks[2].message(0, 2);
    EXPECT_THAT(waiting(), ElementsAre(Optional(0U), std::nullopt, Optional(0U)));
}

TEST(DeadlockOfSignals, AWaitEndsWithItsSignalAndASignalAtOnce) {
    using Kind = CallPart::Kind;
    EXPECT_THAT(deadlocked({{{Kind::signal, 0, 0, 1}, {Kind::wait, 1, 0, 1}},
                            {{Kind::wait, 0, 0, 0}, {Kind::signal, 1, 0, 0}}}),
                ElementsAre(std::nullopt, std::nullopt));
    EXPECT_THAT(deadlocked({{{Kind::wait, 3, 0, 1}, {Kind::signal, 4, 0, 1}},
                            {{Kind::wait, 0, 0, 0}, {Kind::signal, 1, 0, 0}}}),
                ElementsAre(Optional(3U), Optional(0U)));
}

}  // namespace
}  // namespace dlmb::nccl

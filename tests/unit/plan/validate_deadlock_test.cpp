// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans whose steps all pair up, but whose waits may not.
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

/// A ring in which every rank sends to the next and receives from the one before; `chained`: the receive waits.
std::vector<Plan> ring(int ranks, bool chained, Rank receives_first) {
    return test::plans_of(ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        Rank const next = (me + 1) % ranks;
        Rank const previous = (me + ranks - 1) % ranks;
        std::vector<StepId> const after = chained ? std::vector<StepId>{0} : std::vector<StepId>{};
        if (me == receives_first) {
            builder.recv(all, previous, 8, 0, -1, "from");
            builder.send(all, next, 8, 0, -1, "to", after);
        } else {
            builder.send(all, next, 8, 0, -1, "to");
            builder.recv(all, previous, 8, 0, -1, "from", after);
        }
    });
}

constexpr Rank nobody = -1;

TEST(ValidateDeadlock, ARingThatPostsBothTogetherCompletes) {
    for (int const ranks : {1, 2, 3, 16}) {
        EXPECT_EQ(test::texts(validate(ring(ranks, false, nobody))), "") << ranks;
    }
}

TEST(ValidateDeadlock, ARingInWhichAllSendFirstDoesNot) {
    EXPECT_EQ(
        test::texts(validate(ring(2, true, nobody))),
        "deadlock: rank 0 step 0 \"to\" waits for rank 1 step 1 \"from\"; rank 1 step 0 \"to\" waits for rank 0 step 1 "
        "\"from\"\n");
    EXPECT_EQ(
        test::texts(validate(ring(3, true, nobody))),
        "deadlock: rank 0 step 0 \"to\" waits for rank 1 step 1 \"from\"; rank 1 step 0 \"to\" waits for rank 2 step 1 "
        "\"from\"; rank 2 step 0 \"to\" waits for rank 0 step 1 \"from\"\n");
}

TEST(ValidateDeadlock, OneRankThatReceivesFirstFreesTheRing) {
    for (int const ranks : {2, 3, 16}) {
        EXPECT_EQ(test::texts(validate(ring(ranks, true, ranks - 1))), "") << ranks;
    }
}

TEST(ValidateDeadlock, ASendToOneselfNeedsItsReceiveInTheSameWave) {
    EXPECT_EQ(test::texts(validate(ring(1, true, nobody))),
              "deadlock: rank 0 step 0 \"to\" waits for rank 0 step 1 \"from\"\n");
}

TEST(ValidateDeadlock, ACollectiveAndAMessageCanWaitForEachOther) {
    std::vector<Plan> plans = test::plans_of(2, [](PlanBuilder& builder, GroupId pair, Rank me) {
        if (me == 0) {
            builder.all_reduce(pair, 8, Element::fp64, Reduction::sum, "sum");
            builder.send(pair, 1, 8, 0, -1, "late", {0});
        } else {
            builder.recv(pair, 0, 8, 0, -1, "late");
            builder.all_reduce(pair, 8, Element::fp64, Reduction::sum, "sum", {0});
        }
    });
    EXPECT_EQ(test::texts(validate(plans)),
              "deadlock: rank 0 step 0 \"sum\" waits for rank 1 step 1 \"sum\"; rank 1 step 0 "
              "\"late\" waits for rank 0 step 1 \"late\"\n");
    plans[1].steps[1].after.clear();  // posted together, both can complete
    EXPECT_EQ(test::texts(validate(plans)), "");
}

TEST(ValidateDeadlock, OnlyTheCircleIsReportedNotThoseBehindIt) {
    // Ranks 1 and 2 both send first; rank 0 waits for rank 1 without being part of the circle.
    std::vector<Plan> const plans = test::plans_of(3, [](PlanBuilder& builder, GroupId all, Rank me) {
        if (me == 0) {
            builder.recv(all, 1, 8, 1, -1, "behind");
        } else {
            builder.send(all, 3 - me, 8, 0, -1, "to");
            builder.recv(all, 3 - me, 8, 0, -1, "from", {0});
            if (me == 1) {
                builder.send(all, 0, 8, 1, -1, "behind", {1});
            }
        }
    });
    std::vector<PlanProblem> const problems = validate(plans);
    ASSERT_EQ(problems.size(), 1U) << test::texts(problems);
    EXPECT_EQ(
        problems[0].text,
        "deadlock: rank 1 step 0 \"to\" waits for rank 2 step 1 \"from\"; rank 2 step 0 \"to\" waits for rank 1 step 1 "
        "\"from\"");
    EXPECT_EQ(problems[0].rank, 1);
}

}  // namespace
}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Marks to phases, the order of rounds, a duration and its rank in one integer.
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/sampling/phases.hpp"
#include "common/measure/sampling/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace dlmb::measure {
namespace {

Plan plan_of(Rank me, std::vector<std::string> const& labels) {
    Plan plan;
    plan.me = me;
    for (std::string const& label : labels) {
        plan.steps.push_back({Compute{}, {}, label});
    }
    return plan;
}

TEST(Phases, AStepCostsTheTimeSinceThePreviousMark) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        std::vector<Plan> const plans{plan_of(0, {"dispatch.node", "dispatch.rank", "combine", "dispatch.late"})};
        PhaseMap const phases(bootstrap, plans);
        ASSERT_EQ(phases.labels(), (std::vector<std::string>{"dispatch", "combine"}));
        // In order of completion: step 1 took 5, step 0 then 2, combine 10, the late dispatch the rest.
        std::array<PhaseMark, 4> const marks{{{1, 1005}, {0, 1007}, {2, 1017}, {3, PhaseMark::at_finish}}};
        std::array<Nanoseconds, 2> took{};
        std::array<Nanoseconds, 2> ended{};
        phases.times(0, marks, 1000, 1018, took, ended);
        EXPECT_EQ(took[0], 5 + 2 + 1);
        EXPECT_EQ(took[1], 10);
        EXPECT_EQ(ended[0], 18);
        EXPECT_EQ(ended[1], 17);
    });
}

TEST(Phases, RanksAndDrawsWithOtherPhasesShareOneList) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        Rank const me = bootstrap.rank();
        std::vector<Plan> plans{plan_of(me, {"forward"}), plan_of(me, {"forward"})};
        if (me == 1) {
            plans[1] = plan_of(me, {"forward", "embedding"});
        }
        if (me == 2) {
            plans[0] = plan_of(me, {});
        }
        PhaseMap const phases(bootstrap, plans);
        EXPECT_EQ(phases.labels(), (std::vector<std::string>{"forward", "embedding"}));
        std::array<PhaseMark, 1> const marks{{{0, 7}}};
        std::array<Nanoseconds, 2> took{};
        std::array<Nanoseconds, 2> ended{};
        phases.times(1, marks, 4, 9, took, ended);
        EXPECT_EQ(took[0], 3);
        EXPECT_EQ(took[1], no_such_phase);
        EXPECT_EQ(ended[1], no_such_phase);
    });
}

TEST(RoundOrder, IsAPermutationThatChangesFromRoundToRound) {
    std::set<std::vector<std::size_t>> seen;
    for (std::uint64_t round = 0; round < 200; ++round) {
        std::vector<std::size_t> order = round_order(4, 1, round);
        seen.insert(order);
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
    }
    EXPECT_EQ(seen.size(), 24U);  // all 4! orders: 200 fair draws miss one with probability 24 (23/24)^200 = 0.5 %
    EXPECT_EQ(round_order(4, 1, 3), round_order(4, 1, 3));
    EXPECT_NE(round_order(40, 1, 3), round_order(40, 2, 3));
    EXPECT_TRUE(round_order(0, 1, 0).empty());
}

TEST(RankedDuration, ComesBackAndOrdersByDurationFirst) {
    for (RankedDuration const value : {RankedDuration{0, 0}, {1, ranked_rank_most}, {ranked_duration_most, 16383}}) {
        EXPECT_EQ(unpacked(packed(value)), value);
    }
    EXPECT_LT(packed({100, 0}), packed({101, 9}));
    EXPECT_GT(packed({100, 0}), packed({100, 9}));  // a tie goes to the lower rank
    EXPECT_THROW((void)packed({ranked_duration_most + 1, 0}), Error);
    EXPECT_THROW((void)packed({-1, 0}), Error);
}

}  // namespace
}  // namespace dlmb::measure

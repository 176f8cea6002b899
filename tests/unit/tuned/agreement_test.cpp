// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MCR-DL (arXiv 2303.08374): an order of backends that depends on the rank is detected, not hung.
#include "tests/unit/tuned/tuned_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlmb::tuned::testing::agreement_test {
namespace {

using ::testing::HasSubstr;

constexpr Bytes small = 64;
constexpr Bytes large = 4096;

std::string refusal(TunedRank& rank, Plan const& plan) {
    auto const compiled = rank.compile(plan);
    return compiled ? "was compiled" : compiled.error().reason;
}

/// Both ends of each message exist, in an order that a single backend runs.
Plan crossing_messages(Rank me) {
    PlanBuilder builder(me);
    GroupId const both = builder.group(everyone(2));
    if (me == 0) {
        builder.send(both, 1, small, 0, -1, "there");
        builder.recv(both, 1, large, 0, -1, "back");
    } else {
        builder.send(both, 0, large, 0, -1, "back");
        builder.recv(both, 0, small, 0, -1, "there");
    }
    return std::move(builder).finish();
}

TEST(TunedAgreement, AnOrderThatDependsOnTheRankIsNamedInsteadOfHanging) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        EXPECT_EQ(refusal(rank, crossing_messages(rank.rank())),
                  "tuned: the ranks would take turns in different orders: at turn 0 rank 1 has step 0 \"back\" on "
                  "second/default where rank 0 has step 0 \"there\" on first/default; a table that leaves the "
                  "operations of this plan on one backend can run it");
    });
}

TEST(TunedAgreement, OnOneBackendTheSamePlanRuns) {
    auto const all_first = [](tuning::Key const&) { return StepChoice{"first"}; };
    run_tuned_ranks(2, all_first, [](TunedRank& rank) { run_checked(rank, crossing_messages(rank.rank())); });
}

TEST(TunedAgreement, ARankThatEndsEarlierIsNamed) {
    run_tuned_ranks(3, by_size, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        builder.all_reduce(builder.group(everyone(3)), small, Element::int32, Reduction::sum, "sum");
        if (rank.rank() < 2) {
            builder.all_reduce(builder.group(everyone(2)), large, Element::int32, Reduction::sum, "of two");
        }
        EXPECT_THAT(refusal(rank, std::move(builder).finish()),
                    HasSubstr("at turn 1 rank 2 is at its end where rank 0 has step 1 \"of two\" on second/default"));
    });
}

TEST(TunedAgreement, EndsOfOneMessageInDifferentTurnsAreNamed) {
    // Both ranks go first, second, first; but the first message of each is the last one of the other.
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        GroupId const both = builder.group(everyone(2));
        Rank const peer = 1 - rank.rank();
        builder.send(both, peer, small, 0, -1, "early");
        builder.all_reduce(both, large, Element::int32, Reduction::sum, "sum");
        builder.recv(both, peer, small, 0, -1, "late");
        EXPECT_THAT(refusal(rank, std::move(builder).finish()),
                    HasSubstr("tuned: rank 0 does step 2 in turn 2 on first/default, rank 1 its end of it, step 0, in "
                              "turn 0 on first/default"));
    });
}

TEST(TunedAgreement, RanksThatOnlyComputePassTheTurnsOn) {
    run_tuned_ranks(3, by_size, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        if (rank.rank() == 2) {
            builder.compute(1000, "alone");
        } else {
            GroupId const two = builder.group(everyone(2));
            builder.all_reduce(two, small, Element::int32, Reduction::sum, "small");
            builder.all_reduce(two, large, Element::int32, Reduction::sum, "large");
        }
        run_checked(rank, std::move(builder).finish(), 3);
    });
}

TEST(TunedAgreement, ARankWithNothingToDoHasNoOpenStep) {
    run_tuned_ranks(3, by_size, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        if (rank.rank() != 2) {
            builder.all_reduce(builder.group(everyone(2)), small, Element::int32, Reduction::sum, "small");
        }
        auto const compiled = std::move(rank.compile(std::move(builder).finish())).value();
        EXPECT_EQ(compiled->first_open_step().has_value(), rank.rank() != 2);
    });
}

TEST(TunedAgreement, AChoiceThatNobodyHereCanDoIsDeclinedWithItsRule) {
    auto const elsewhere = [](tuning::Key const&) { return StepChoice{"nowhere", {}, "r007"}; };
    run_tuned_ranks(2, elsewhere, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        builder.broadcast(builder.group(everyone(2)), 0, small, Element::byte, "b");
        EXPECT_EQ(refusal(rank, std::move(builder).finish()),
                  "tuned: nowhere/default (r007): there is no such machine");
    });
}

TEST(TunedAgreement, AnExchangeIsAskedForAsInPlaceThoughARankHasNoBlocks) {
    auto const asked = [](tuning::Key const& key) {
        return StepChoice{"nowhere", {}, key.in_place == true ? "in" : "out"};
    };
    run_tuned_ranks(3, asked, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        Bytes const block = rank.rank() == 0 ? 0 : 8;
        builder.exchange_in_place(builder.group(everyone(3)), std::array<Bytes, 3>{0, block, block}, "x");
        EXPECT_THAT(refusal(rank, std::move(builder).finish()), HasSubstr("(in)"));
    });
}

TEST(TunedAgreement, DifferentTablesAreAnErrorThatNamesTheRanks) {
    std::string error;
    try {
        in_process::run_ranks(4, [](Bootstrap& bootstrap) {
            Protocol protocol;
            WatchedSource source(bootstrap, protocol);
            FunctionChooser const chooser(by_size, bootstrap.rank() == 2 ? "bb" : "aa");
            BackendContext context{bootstrap};
            Delegation const delegation{chooser, source};
            context.delegation = &delegation;
            (void)dlmb::make_backend("tuned", context);
        });
    } catch (UsageError const& usage) {
        error = usage.what();
    }
    EXPECT_EQ(error, "--use-table: the ranks read different tables (SHA-256; aa on ranks 0, 1, 3; bb on rank 2); give "
                     "every node the same file");
}

TEST(TunedAgreement, WithoutATableThereIsAReason) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        auto const made = dlmb::make_backend("tuned", {bootstrap});
        ASSERT_FALSE(made);
        EXPECT_THAT(made.error().reason, HasSubstr("--use-table"));
    });
}

/// What the chooser was asked on each rank, by step.
std::vector<std::vector<tuning::Key>> asked(int ranks, int ranks_per_node,
                                            std::function<Plan(Rank)> const& plan_of_rank) {
    std::vector<std::vector<tuning::Key>> all(static_cast<std::size_t>(ranks));
    in_process::run_ranks(ranks, ranks_per_node, [&](Bootstrap& bootstrap) {
        auto& mine = all[static_cast<std::size_t>(bootstrap.rank())];
        TunedRank rank(bootstrap, [&mine](tuning::Key const& step) {
            mine.push_back(step);
            return StepChoice{"first"};
        });
        EXPECT_TRUE(rank.compile(plan_of_rank(bootstrap.rank())));
        mine.pop_back();  // who does a plan in which nobody communicates
    });
    return all;
}

TEST(TunedQuestions, AnExchangeIsAsUnevenAsWhatRanksSendOrReceive) {
    // Every rank sends 1000 bytes; rank 0 receives 4 * 400 of 4000: 1600 against a mean of 1000.
    auto const all = asked(4, 4, [](Rank me) {
        PlanBuilder builder(me);
        std::vector<Bytes> const to{400, 200, 200, 200};
        std::vector<Bytes> const from(4, me == 0 ? 400 : 200);
        builder.exchange(builder.group(everyone(4)), to, from, "hot");
        return std::move(builder).finish();
    });
    for (auto const& mine : all) {
        EXPECT_DOUBLE_EQ(mine.at(0).imbalance.value(), 1.6);
    }
}

TEST(TunedQuestions, AnExchangeIsAskedAboutByWhatAllRanksSend) {
    // Rank r sends 100 (r + 1) bytes to each of 4 ranks: 400, 800, 1200, 1600; mean 1000, most 1600.
    auto const all = asked(4, 2, [](Rank me) {
        PlanBuilder builder(me);
        std::vector<Bytes> const to(4, 100 * static_cast<Bytes>(me + 1));
        std::vector<Bytes> const from{100, 200, 300, 400};
        builder.exchange(builder.group(everyone(4)), to, from, "ragged");
        return std::move(builder).finish();
    });
    for (auto const& mine : all) {
        ASSERT_EQ(mine.size(), 1U);
        EXPECT_EQ(mine[0].bytes, 1000U);
        EXPECT_DOUBLE_EQ(mine[0].imbalance.value(), 1.6);
        EXPECT_EQ(mine[0].uniform, false);
        EXPECT_EQ(mine[0].ranks, 4U);
        EXPECT_EQ(mine[0].nodes, 2U);
    }
}

TEST(TunedQuestions, BothEndsOfAMessageAskTheSame) {
    auto const all = asked(4, 2, [](Rank me) {
        PlanBuilder builder(me);
        GroupId const world = builder.group(everyone(4));
        if (me == 1) {
            builder.send(world, 2, 300, 0, -1, "across");
        } else if (me == 2) {
            builder.recv(world, 1, 300, 0, -1, "across");
            builder.send(world, 3, 500, 0, -1, "within");
        } else if (me == 3) {
            builder.recv(world, 2, 500, 0, -1, "within");
        }
        return std::move(builder).finish();
    });
    EXPECT_EQ(all[1].at(0).bytes, 300U);
    EXPECT_EQ(all[2].at(0).bytes, 300U);
    EXPECT_EQ(all[2].at(1).bytes, 500U);
    EXPECT_EQ(all[3].at(0).bytes, 500U);
}

TEST(TunedQuestions, CollectivesTellElementReductionAndWhetherTheyAreInPlace) {
    auto const all = asked(2, 2, [](Rank me) {
        PlanBuilder builder(me);
        GroupId const both = builder.group(everyone(2));
        StepId const first = builder.all_reduce(both, 64, Element::bf16, Reduction::max, "out of place");
        builder.in_place(true);
        builder.all_gather(both, 256, Element::byte, "in place", {first});
        return std::move(builder).finish();
    });
    tuning::Key const& sum = all[0].at(0);
    EXPECT_EQ(sum.operation, tuning::TunedOperation::allreduce);
    EXPECT_EQ(sum.memory, "host");
    EXPECT_EQ(sum.dtype, "bf16");
    EXPECT_EQ(sum.reduction, "max");
    EXPECT_EQ(sum.in_place, false);
    EXPECT_FALSE(sum.uniform || sum.imbalance);
    EXPECT_EQ(all[0].at(1).in_place, true);
    EXPECT_EQ(all[0].at(1).bytes, 256U);
}

}  // namespace
}  // namespace dlmb::tuned::testing::agreement_test

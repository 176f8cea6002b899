// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where experts are, and what that does to the messages.
#include "common/base/error.hpp"
#include "common/formats/plan/traffic.hpp"
#include "patterns/moe_alltoall/eplb.hpp"
#include "patterns/moe_alltoall/expert_placement.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace dlmb::moe_alltoall {
namespace {

using Indices = std::vector<std::size_t>;
constexpr WorldShape two_nodes{8, 4};

Parameters small(Parameters overrides) {
    overrides.insert({{"hidden", "64"}, {"experts", "32"}, {"top-k", "4"}, {"tokens", "256"}, {"skew", "zipf:1.05"}});
    return overrides;
}

double statistic_of(Parameters const& overrides, char const* name) {
    return statistic(*make_moe(small(overrides), two_nodes), two_nodes.ranks, name);
}

// The example in the README of deepseek-ai/EPLB: two layers, 16 replicas of 12 experts, 4 groups, 2 nodes, 8 GPUs.
TEST(Eplb, PlacesReplicasAsThePublishedExample) {
    std::vector<std::uint64_t> const first{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86};
    std::vector<std::uint64_t> const second{20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27};
    EXPECT_EQ(eplb(first, {16, 4, 2, 8}), (Indices{5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1}));
    EXPECT_EQ(eplb(second, {16, 4, 2, 8}), (Indices{7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1}));
}

TEST(Eplb, TiesGoToTheFirstAndGroupsThatDoNotFitNodesAreLeftOutOfAccount) {
    EXPECT_EQ(eplb(std::vector<std::uint64_t>{5, 5, 5, 5}, {4, 1, 1, 2}), (Indices{0, 2, 1, 3}));
    std::vector<std::uint64_t> const loads{9, 1, 7, 3, 5, 2};
    EXPECT_EQ(eplb(loads, {8, 3, 2, 4}), eplb(loads, {8, 1, 1, 4}));
    // One item per pack stays where it is, however heavy.
    EXPECT_EQ(pack_evenly(std::vector<double>{1, 9, 5}, 3).pack_of, (Indices{0, 1, 2}));
}

// 160 / 64 = 2.5 experts per rank: 3 are 1.2 times the mean.
TEST(MoePlacement, ExpertsThatRanksDoNotDivideAreSaid) {
    WorldShape const world{64, 8};
    auto const said = [&](char const* experts, char const* placement) {
        return make_moe(small({{"experts", experts}, {"placement", placement}, {"ep", "64"}}), world)->remarks();
    };
    EXPECT_EQ(said("160", "block"),
              std::vector<std::string>{"160 experts on --ep 64 are 2 or 3 per rank: with balanced routing the busiest "
                                       "rank has 1.20 times the mean"});
    EXPECT_TRUE(said("128", "block").empty());
}

TEST(MoePlacement, ThatNothingIsHandedOnInsideOfANodeIsSaid) {
    auto const said = [](WorldShape const& world) {
        return make_moe(small({{"wire", "node_dedup"}, {"ep", "4"}}), world)->remarks();
    };
    EXPECT_TRUE(said({8, 2}).empty());
    ASSERT_EQ(said({8, 4}).size(), 1U);
    EXPECT_NE(said({8, 4}).front().find("rows go as with rank_dedup"), std::string::npos);
}

TEST(MoePlacement, RowsAreConservedWhereverExpertsAre) {
    for (char const* wire : {"expanded", "rank_dedup", "node_dedup", "padded"}) {
        for (char const* placement : {"block", "cyclic", "coarse:3", "fine:3", "lpt", "eplb"}) {
            auto const pattern = make_moe(small({{"placement", placement}, {"wire", wire}}), two_nodes);
            auto const plans = build_all(*pattern, two_nodes, {});
            EXPECT_EQ(problem_of(plans), "") << wire << " " << placement;
            if (std::string_view(wire) == "expanded") {
                EXPECT_EQ(sent(plans, "dispatch"), 8U * 256 * 4 * 128) << placement;
            }
        }
    }
}

// Zipf(1.05) makes one of 32 experts receive more than the mean of a rank: no placement of whole experts is even, and
// replicas make it nearly so.
TEST(MoePlacement, BalancersAreMoreEvenThanNeighbours) {
    double const block = statistic_of({}, "max_mean_rank");
    double const lpt = statistic_of({{"placement", "lpt"}}, "max_mean_rank");
    double const replicated = statistic_of({{"placement", "eplb"}, {"redundant-experts", "32"}}, "max_mean_rank");
    EXPECT_LT(lpt, block);
    EXPECT_LT(replicated, lpt);
    EXPECT_LT(replicated, 1.1);
    EXPECT_EQ(statistic_of({{"placement", "eplb"}, {"redundant-experts", "32"}}, "experts_per_rank_most"), 8);
    EXPECT_EQ(statistic_of({{"placement", "fine"}}, "experts_per_rank_most"), 4);
}

// Block to cyclic, 4 experts on 2 ranks: {0,1 | 2,3} becomes {0,2 | 1,3}, so 1 and 2 change places.
TEST(MoeRebalance, OnlyWhatLiesElsewhereMoves) {
    Parameters const swap{{"hidden", "64"},        {"experts", "4"},       {"top-k", "1"},      {"tokens", "8"},
                          {"placement", "cyclic"}, {"rebalance", "block"}, {"expert-ffn", "32"}};
    auto const plans = build_all(*make_moe(swap, {2, 2}), {2, 2}, {});
    for (Plan const& plan : plans) {
        Exchange const& moved = exchange_of(plan, "rebalance");
        ASSERT_EQ(moved.send.size(), 1U);
        EXPECT_EQ(moved.send[0].peer, 1 - plan.me);
        EXPECT_EQ(moved.send[0].bytes, 3U * 64 * 32 * 2);
        EXPECT_EQ(steps_with(plan, "dispatch").at(0)->after.size(), 1U);
    }
    EXPECT_EQ(problem_of(plans), "");
}

TEST(MoeRebalance, WhatMovesIsWhatTheNewPlacementLacks) {
    for (char const* before : {"block", "cyclic", "fine", "lpt"}) {
        auto const pattern = make_moe(small({{"placement", "eplb"},
                                             {"redundant-experts", "16"},
                                             {"rebalance", before},
                                             {"expert-ffn", "8"},
                                             {"layers", "2"}}),
                                      two_nodes);
        auto const plans = build_all(*pattern, two_nodes, {});
        EXPECT_EQ(problem_of(plans), "");
        EXPECT_GT(sent(plans, "rebalance.0"), 0U) << before;
    }
    auto const same = make_moe(small({{"rebalance", "block"}, {"expert-ffn", "8"}}), two_nodes);
    EXPECT_EQ(sent(build_all(*same, two_nodes, {}), "rebalance"), 0U);
}

TEST(MoePlacement, RefusalsSayWhatToDo) {
    EXPECT_EQ(refusal(small({{"redundant-experts", "8"}}), two_nodes),
              "--redundant-experts 8: only --placement eplb has replicas");
    EXPECT_EQ(refusal(small({{"redundant-experts", "3"}, {"placement", "eplb"}}), two_nodes),
              "--redundant-experts 3: with --experts 32 that is 35, which does not divide over --ep 8");
    EXPECT_EQ(refusal(small({{"redundant-experts", "8"}, {"placement", "eplb"}, {"wire", "padded"}}), two_nodes),
              "--redundant-experts 8: --wire padded knows no replicas");
    EXPECT_EQ(refusal(small({{"rebalance", "block"}}), two_nodes),
              "--rebalance: needs --expert-ffn, which says how large an expert is");
    EXPECT_EQ(refusal(small({{"placement", "none"}}), two_nodes),
              "--placement 'none': expected block, cyclic, coarse[:SEED], fine[:SEED], lpt, eplb, file:PATH");
}

TEST(MoePlacementFile, SaysForEveryExpertWhichRanksHaveIt) {
    std::string const path = testing::TempDir() + "expert_placement.txt";
    std::ofstream(path) << "0 1\n1\n0 # cold\n0\n";
    Parameters const parameters{
        {"hidden", "64"}, {"experts", "4"}, {"top-k", "4"}, {"tokens", "10"}, {"placement", "file:" + path}};
    auto const plans = build_all(*make_moe(parameters, {2, 2}), {2, 2}, {});
    EXPECT_EQ(problem_of(plans), "");
    // Of each 10 tokens 5 go to each replica of expert 0; 1 goes to rank 1; 2 and 3 to rank 0.
    EXPECT_EQ(exchange_of(plans[0], "dispatch").send.at(0).bytes, 25U * 128);
    EXPECT_EQ(exchange_of(plans[0], "dispatch").send.at(1).bytes, 15U * 128);
    std::ofstream(path) << "0\n1\n0\n2\n";
    std::string const wrong = " " + path + ":4: '2': expected ranks below 2";
    EXPECT_EQ(refusal(parameters, {2, 2}), "--placement" + wrong);
    EXPECT_EQ(refusal({{"experts", "4"}, {"top-k", "1"}, {"rebalance", "file:" + path}}, {2, 2}),
              "--rebalance" + wrong);
}

}  // namespace
}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/routing.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace dlmb::moe_alltoall {
namespace {

struct Routed {
    std::vector<std::vector<std::size_t>> tokens;
    std::vector<std::uint64_t> counts;
};

Routed route(Parameters const& overrides, WorldShape const& world = {1, 1}, Rank source = 0, Draw draw = {}) {
    Params const params = read_params(resolve(type(), "", overrides), world);
    Routed routed;
    routed.counts.resize(params.experts);
    Routing(params, world).for_each_token(source, draw, 0, [&](std::span<std::size_t const> experts) {
        routed.tokens.emplace_back(experts.begin(), experts.end());
        for (std::size_t const expert : experts) {
            ++routed.counts.at(expert);
        }
    });
    return routed;
}

std::size_t groups_used(std::vector<std::size_t> const& experts, std::size_t group_size) {
    std::set<std::size_t> groups;
    for (std::size_t const expert : experts) {
        groups.insert(expert / group_size);
    }
    return groups.size();
}

TEST(MoeRouting, EveryTokenGetsTopKDifferentExperts) {
    for (char const* skew :
         {"balanced", "lognormal:0.24", "zipf:2", "hot_rank:1000", "power_law:1.2", "intra_host:4"}) {
        for (char const* top_k : {"1", "3", "8"}) {
            auto const routed = route({{"experts", "8"}, {"top-k", top_k}, {"tokens", "101"}, {"skew", skew}}, {4, 2});
            ASSERT_EQ(routed.tokens.size(), 101U);
            for (auto const& experts : routed.tokens) {
                EXPECT_EQ(std::set<std::size_t>(experts.begin(), experts.end()).size(), std::stoul(top_k)) << skew;
            }
        }
    }
}

TEST(MoeRouting, BalancedGivesEveryExpertTheSameCount) {
    // 4096 * 8 / 256 = 128; 96 * 6 / 64 = 9; 8 tokens of 3 over 24 experts = 1.
    EXPECT_EQ(route({{"experts", "256"}, {"top-k", "8"}, {"tokens", "4096"}, {"skew", "balanced"}}).counts,
              std::vector<std::uint64_t>(256, 128));
    EXPECT_EQ(route({{"experts", "64"}, {"top-k", "6"}, {"tokens", "96"}, {"skew", "balanced"}}).counts,
              std::vector<std::uint64_t>(64, 9));
    EXPECT_EQ(route({{"experts", "24"}, {"top-k", "3"}, {"tokens", "8"}, {"skew", "balanced"}}).counts,
              std::vector<std::uint64_t>(24, 1));
}

TEST(MoeRouting, BalancedCountsDifferByOneAtMostWhereTheyCannotBeEqual) {
    auto const counts = route({{"experts", "7"}, {"top-k", "3"}, {"tokens", "100"}, {"skew", "balanced"}}).counts;
    EXPECT_LE(*std::max_element(counts.begin(), counts.end()) - *std::min_element(counts.begin(), counts.end()), 1U);
}

TEST(MoeRouting, BalancedWithAGroupLimitIsStillExact) {
    Parameters const v3{{"experts", "256"},   {"top-k", "8"},         {"tokens", "4096"},
                        {"skew", "balanced"}, {"expert-groups", "8"}, {"group-limit", "4"}};
    auto const routed = route(v3);
    EXPECT_EQ(routed.counts, std::vector<std::uint64_t>(256, 128));
    for (auto const& experts : routed.tokens) {
        EXPECT_EQ(groups_used(experts, 32), 4U);
    }
}

TEST(MoeRouting, BalancedSetsAreNotTheSameForEveryToken) {
    auto const routed = route({{"experts", "8"}, {"top-k", "2"}, {"tokens", "64"}, {"skew", "balanced"}});
    std::set<std::vector<std::size_t>> different(routed.tokens.begin(), routed.tokens.end());
    EXPECT_GT(different.size(), 20U);  // of 56 ordered pairs, 64 draws miss about a third
}

// One choice of two experts with weights 1 and 1/2: the first is chosen with probability 2/3. Four standard deviations
// of 30000 choices are 327.
TEST(MoeRouting, TheFirstChoiceIsInProportionToTheWeight) {
    auto const counts = route({{"experts", "2"}, {"top-k", "1"}, {"tokens", "30000"}, {"skew", "zipf:1"}}).counts;
    EXPECT_NEAR(static_cast<double>(std::max(counts[0], counts[1])), 20000, 327);
}

// The second of two choices without replacement: P({0,1}) of weights a, b, c is a/(a+b+c)*b/(b+c) + b/(a+b+c)*a/(a+c).
TEST(MoeRouting, SecondChoicesFollowTheRemainingWeights) {
    auto const routed = route({{"experts", "3"}, {"top-k", "2"}, {"tokens", "30000"}, {"skew", "hot_rank:2"}}, {3, 3});
    // Weights 2, 1, 1: expert 0 is missed with 1/4*1/3 + 1/4*1/3 = 1/6; four standard deviations are 258.
    EXPECT_NEAR(static_cast<double>(30000 - routed.counts[0]), 5000, 258);
}

TEST(MoeRouting, GroupLimitHoldsForEveryTokenAndBothScores) {
    for (char const* score : {"best", "best_two"}) {
        auto const routed = route({{"experts", "160"},
                                   {"top-k", "6"},
                                   {"tokens", "500"},
                                   {"expert-groups", "8"},
                                   {"group-limit", "3"},
                                   {"group-score", score}});
        for (auto const& experts : routed.tokens) {
            EXPECT_LE(groups_used(experts, 20), 3U);
            EXPECT_EQ(std::set<std::size_t>(experts.begin(), experts.end()).size(), 6U);
        }
    }
}

TEST(MoeRouting, GroupScoreChangesTheChoice) {
    auto const routed = [](char const* score) {
        return route({{"experts", "64"},
                      {"tokens", "100"},
                      {"expert-groups", "8"},
                      {"group-limit", "3"},
                      {"group-score", score}});
    };
    EXPECT_NE(routed("best").tokens, routed("best_two").tokens);
}

TEST(MoeRouting, EveryDrawSourceAndSeedIsItsOwn) {
    for (char const* skew : {"balanced", "lognormal:0.24"}) {
        Parameters const parameters{{"tokens", "32"}, {"skew", skew}};
        auto const first = route(parameters, {2, 2}, 0, {1, 0}).tokens;
        EXPECT_EQ(route(parameters, {2, 2}, 0, {1, 0}).tokens, first);
        EXPECT_NE(route(parameters, {2, 2}, 1, {1, 0}).tokens, first);
        EXPECT_NE(route(parameters, {2, 2}, 0, {1, 1}).tokens, first);
        EXPECT_NE(route(parameters, {2, 2}, 0, {2, 0}).tokens, first);
        EXPECT_NE(route(parameters, {2, 2}, 0, {1 + (std::uint64_t{1} << 32), 0}).tokens, first);
    }
}

// Two nodes with four experts each, weight 3 at home and 1 away: 3/4 of the choices stay.
TEST(MoeRouting, IntraHostPullsTowardsTheOwnNode) {
    Parameters const parameters{{"experts", "8"}, {"top-k", "1"}, {"tokens", "30000"}, {"skew", "intra_host:3"}};
    for (Rank const source : {0, 3}) {
        auto const counts = route(parameters, {4, 2}, source).counts;
        auto const first_node = static_cast<double>(counts[0] + counts[1] + counts[2] + counts[3]);
        EXPECT_NEAR(source == 0 ? first_node : 30000 - first_node, 22500, 300);  // four standard deviations
    }
}

}  // namespace
}  // namespace dlmb::moe_alltoall

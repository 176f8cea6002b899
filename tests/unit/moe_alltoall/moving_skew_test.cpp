// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/exact_math.hpp"
#include "patterns/moe_alltoall/moving_skew.hpp"
#include "patterns/moe_alltoall/routing.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"
#include "tests/unit/plan/traffic_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace dlmb::moe_alltoall {
namespace {

using Family = Skew::Family;

Routing routing_of(Parameters const& overrides, WorldShape const& world = {4, 4}) {
    return {read_params(resolve(type(), "", overrides), world), world};
}

std::vector<double> weights_at(std::string const& skew, std::uint32_t index, std::uint32_t layer = 0) {
    return routing_of({{"experts", "16"}, {"skew", skew}}).weights(0, {1, index}, layer);
}

double correlation_of(std::vector<double> const& a, std::vector<double> const& b) {
    auto const count = static_cast<double>(a.size());
    auto const mean = [&](std::vector<double> const& of) { return std::accumulate(of.begin(), of.end(), 0.0) / count; };
    double const mean_a = mean(a);
    double const mean_b = mean(b);
    double product = 0;
    double square_a = 0;
    double square_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += (a[i] - mean_a) * (b[i] - mean_b);
        square_a += (a[i] - mean_a) * (a[i] - mean_a);
        square_b += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return product / std::sqrt(square_a * square_b);
}

TEST(MovingSkew, ReadsEveryPartInAnyOrder) {
    auto const all = parse_routing_skew("burst:0.1:5+zipf:1.2+drift:64+rotating:16+intra_host:4+zero_expert:2");
    EXPECT_EQ(all.still, (Skew{Family::zipf, 1.2, "", 4}));
    EXPECT_EQ(all.moving, (MovingSkew{16, 0.1, 5, 2, 64}));
    EXPECT_EQ(parse_routing_skew("rotating:16").still, Skew{}) << "the default family";
    EXPECT_EQ(parse_routing_skew("file:a:b+c.txt+rotating:3").still.path, "a:b+c.txt");
    EXPECT_EQ(parse_routing_skew("hot_rank:1e+3").still, (Skew{Family::hot_rank, 1000, "", 1}));
    EXPECT_FALSE(parse_routing_skew("hot_rank:1e+3").moving.any());
}

TEST(MovingSkew, RefusalsSayWhatIsAllowed) {
    auto const skew = [](char const* text) { return refusal({{"skew", text}}, {4, 4}); };
    EXPECT_EQ(skew("zipf:1+rotating:0"),
              "--skew 'zipf:1+rotating:0': expected rotating:PERIOD with the draws until the next shift, from 1 to "
              "1000000");
    EXPECT_EQ(skew("burst:0.1"), "--skew 'burst:0.1': expected burst:RATE:LENGTH with the probability that a burst "
                                 "begins with a draw, from 0 to 1, and the draws that it lasts, from 1 to 10000");
    EXPECT_EQ(skew("drift:0.5"), "--skew 'drift:0.5': expected drift:HALF_LIFE with the draws after which half of the "
                                 "correlation is left, from 1 to 1000000");
    EXPECT_EQ(skew("wobble:3"), "--skew 'wobble:3': expected balanced, lognormal:GINI, zipf:S, hot_rank:R, "
                                "power_law:ALPHA, intra_host:R or file:PATH, optionally followed by +intra_host:R, "
                                "+rotating:PERIOD, +burst:RATE:LENGTH, +zero_expert:R, +drift:HALF_LIFE");
    EXPECT_EQ(skew("zipf:1+wobble:3").substr(0, 40), skew("wobble:3").substr(0, 40));
    EXPECT_EQ(skew("zipf:1+zipf:2"), "--skew 'zipf:1+zipf:2': expected one family, not also 'zipf:2'");
    EXPECT_EQ(skew("drift:2+drift:3"), "--skew 'drift:2+drift:3': expected drift once");
    EXPECT_EQ(skew("balanced+burst:0.1:2"), "--skew 'balanced+burst:0.1:2': nothing can move after balanced, whose "
                                            "counts are equal by definition; use lognormal:0");
    EXPECT_EQ(skew("intra_host:2+drift:4"), "--skew 'intra_host:2+drift:4': rotating and drift need a family before "
                                            "them whose experts differ, as in zipf:1.2+rotating:16");
    EXPECT_EQ(skew("zero_expert:4"), "--skew 'zero_expert:4': a group has --ep 4 ranks, numbered from 0");
    for (char const* text : {"", "rotating", "rotating:", "rotating:1.5", "rotating:4:4", "burst:2:3", "burst:0.1:0",
                             "burst:nan:2", "zero_expert:-1", "zero_expert:", "drift:inf", "drift:1e7", "zipf:1+"}) {
        EXPECT_NE(skew(text), "accepted") << text;
    }
}

TEST(MovingSkew, ZeroExpertMustLeaveEveryTokenItsExperts) {
    EXPECT_EQ(refusal({{"experts", "8"}, {"top-k", "7"}, {"skew", "zero_expert:1"}}, {4, 4}),
              "--skew 'zero_expert:1': leaves a token 6 experts, fewer than --top-k 7");
    EXPECT_EQ(refusal({{"skew", "zero_expert:0"}}, {1, 1}),
              "--skew 'zero_expert:0': leaves a token 0 experts, fewer than --top-k 6");
    // Four groups of 4 on 8 ranks of 2: a group of rank 0 has 2 left, and a token uses two groups.
    Parameters groups{{"experts", "16"}, {"skew", "zero_expert:0"}, {"expert-groups", "4"}, {"group-limit", "2"}};
    EXPECT_EQ(refusal(groups, {8, 8}), "accepted");
    groups.insert({"top-k", "7"});
    EXPECT_EQ(refusal(groups, {8, 8}), "--skew 'zero_expert:0': leaves a token 6 experts, fewer than --top-k 7");
    groups.at("top-k") = "8";
    EXPECT_EQ(refusal(groups, {4, 4}), "accepted") << "the group that has nothing left is chosen last";
}

TEST(MovingSkew, RotatingMovesEveryWeightByOneExpertPerPeriod) {
    auto const start = weights_at("zipf:1.2", 0);
    for (std::uint32_t const index : {0U, 2U, 3U, 8U, 47U, 48U, 3'000'000'000U}) {
        auto const moved = weights_at("zipf:1.2+rotating:3", index);
        for (std::size_t expert = 0; expert < 16; ++expert) {
            EXPECT_EQ(moved[(expert + index / 3) % 16], start[expert]) << index;
        }
    }
    EXPECT_EQ(weights_at("zipf:1.2+rotating:3", 3 * 16), start) << "after PERIOD * experts";
}

TEST(MovingSkew, ADrawIsTheSameInAnyOrderOnAnyRank) {
    Parameters const parameters{{"tokens", "64"}, {"layers", "2"}, {"skew", "zipf:1+rotating:2+burst:0.3:3+drift:5"}};
    auto const first = make_moe(parameters, {4, 4});
    auto const second = make_moe(parameters, {4, 4});
    RankSetup const fifth = first->setup_of(1, {7, 5});
    RankSetup const early = first->setup_of(1, {7, 2});
    EXPECT_EQ(second->setup_of(1, {7, 2}).counts_to_send, early.counts_to_send);
    EXPECT_EQ(second->setup_of(1, {7, 5}).counts_to_send, fifth.counts_to_send);
    EXPECT_NE(fifth.counts_to_send, early.counts_to_send);
    Routing const routing = routing_of(parameters);
    EXPECT_EQ(routing.weights(0, {7, 5}, 1), routing.weights(3, {7, 5}, 1));
    EXPECT_NE(routing.weights(0, {7, 5}, 1), routing.weights(0, {7, 5}, 0)) << "each layer has its own";
    EXPECT_NE(routing.weights(0, {7, 5}, 1), routing.weights(0, {8, 5}, 1));
}

TEST(MovingSkew, EveryTokenHasTopKDifferentExperts) {
    for (char const* skew : {"rotating:1", "burst:1:2", "zero_expert:3", "drift:2",
                             "zipf:2+rotating:1+burst:0.5:2+zero_expert:0+drift:3", "burst:0.5:2+intra_host:1000000"}) {
        for (char const* groups : {"1", "4"}) {
            Routing const routing = routing_of(
                {{"experts", "32"}, {"tokens", "50"}, {"expert-groups", groups}, {"group-limit", "0"}, {"skew", skew}});
            for (std::uint32_t index = 0; index < 6; ++index) {
                std::size_t tokens = 0;
                routing.for_each_token(2, {1, index}, 0, [&](std::span<std::size_t const> experts) {
                    ++tokens;
                    EXPECT_EQ(std::set<std::size_t>(experts.begin(), experts.end()).size(), 6U) << skew;
                });
                EXPECT_EQ(tokens, 50U);
            }
        }
    }
}

TEST(MovingSkew, TheRankOfZeroExpertGetsNothingAndAllRowsGoElsewhere) {
    for (char const* limit : {"0", "2"}) {
        for (char const* score : {"best", "best_two"}) {
            Parameters const parameters{{"experts", "32"},
                                        {"top-k", "6"},
                                        {"tokens", "200"},
                                        {"hidden", "8"},
                                        {"expert-groups", "4"},
                                        {"group-limit", limit},
                                        {"group-score", score},
                                        {"ep", "4"},
                                        {"skew", "zipf:8+zero_expert:2"}};
            auto const plans = build_all(*make_moe(parameters, {8, 4}), {8, 4}, {3, 9});
            test::TrafficMatrix const dispatch(plans, "dispatch");
            for (Rank from = 0; from < 8; ++from) {
                Bytes all = 0;
                for (Rank to = 0; to < 8; ++to) {
                    all += dispatch.at(from, to);
                }
                EXPECT_EQ(all, 200U * 6 * 16);
                EXPECT_EQ(dispatch.at(from, from < 4 ? 2 : 6), 0U) << "rank 2 of each group";
            }
        }
    }
}

// In a burst at draw n: one of the LENGTH draws up to n begins one. With RATE 1/16 and LENGTH 8 that is 1 - (15/16)^8 =
// 0.403; draws 8 apart are independent, so that four standard deviations of 40000 draws are below 0.028.
TEST(MovingSkew, BurstsAreAsFrequentAsTheirRateAndLengthSay) {
    Routing const routing = routing_of({{"skew", "lognormal:0+burst:0.0625:8"}});
    std::uint32_t in_burst = 0;
    std::set<std::size_t> hot;
    for (std::uint32_t index = 0; index < 40000; ++index) {
        auto const expert = routing.motion().burst_expert({1, index}, 0);
        in_burst += expert ? 1U : 0U;
        hot.insert(expert.value_or(0));
        ASSERT_EQ(routing.motion().burst_expert({1, index}, 3).has_value(), expert.has_value()) << "in all layers";
    }
    EXPECT_NEAR(in_burst / 40000.0, 1 - std::pow(15.0 / 16, 8), 0.028);
    EXPECT_EQ(hot.size(), 64U) << "every expert has its turn";
}

TEST(MovingSkew, ABurstKeepsItsExpertForItsLength) {
    Routing const routing = routing_of({{"skew", "lognormal:0+burst:0.001:20"}});
    std::uint32_t length = 0;
    std::optional<std::size_t> before;
    std::vector<std::uint32_t> lengths;
    for (std::uint32_t index = 0; index < 20000; ++index) {
        auto const now = routing.motion().burst_expert({1, index}, 0);
        if (length > 0 && now != before) {
            lengths.push_back(length);
            length = 0;
        }
        length += now ? 1U : 0U;
        before = now;
    }
    ASSERT_GT(lengths.size(), 10U);  // about 20
    std::sort(lengths.begin(), lengths.end());
    EXPECT_EQ(lengths[lengths.size() / 2], 20U);
    EXPECT_LE(lengths.front(), 20U) << "a later burst ends an earlier one";
}

// The expert of a burst weighs as much as all others together: half of the first choices. Four standard deviations of
// 30000 choices are 346.
TEST(MovingSkew, TheExpertOfABurstHasHalfOfTheFirstChoices) {
    for (char const* skew : {"lognormal:0+burst:1:1", "zipf:1+burst:1:1", "zipf:1+burst:1:1+zero_expert:0"}) {
        Routing const routing = routing_of({{"experts", "16"}, {"top-k", "1"}, {"tokens", "30000"}, {"skew", skew}});
        for (std::uint32_t const index : {0U, 5U}) {
            auto const hot = routing.motion().burst_expert({1, index}, 0);
            ASSERT_TRUE(hot.has_value());
            double chosen = 0;
            routing.for_each_token(0, {1, index}, 0,
                                   [&](std::span<std::size_t const> experts) { chosen += experts[0] == *hot ? 1 : 0; });
            EXPECT_NEAR(chosen, 15000, 346) << skew;
        }
    }
}

std::vector<double> log_weights(Routing const& routing, std::uint32_t index) {
    std::vector<double> logs = routing.weights(0, {1, index}, 0);
    std::transform(logs.begin(), logs.end(), logs.begin(), exact::log);
    return logs;
}

// The correlation of 16384 pairs has a standard deviation of (1 - r^2) / 128 < 0.008.
TEST(MovingSkew, DriftLosesHalfOfTheCorrelationInEachHalfLife) {
    Routing const routing = routing_of({{"experts", "16384"}, {"skew", "lognormal:0.38+drift:8"}});
    auto const start = log_weights(routing, 0);
    for (std::uint32_t const index : {1U, 8U, 16U, 24U, 1000U}) {
        EXPECT_NEAR(correlation_of(start, log_weights(routing, index)), std::exp2(-static_cast<double>(index) / 8),
                    0.032);
    }
    // A block has 512 draws: also between later draws, and over its end.
    for (auto const& [from, to] : {std::pair(100U, 108U), std::pair(508U, 516U), std::pair(511U, 513U),
                                   std::pair(512U, 520U), std::pair(4'294'967'280U, 4'294'967'288U)}) {
        EXPECT_NEAR(correlation_of(log_weights(routing, from), log_weights(routing, to)),
                    std::exp2(-(static_cast<double>(to) - from) / 8), 0.032)
            << from;
    }
}

// Gini 0.38: sigma 0.701 (traffic.md 3.5), whose estimate from 16384 has a standard deviation of 0.004.
TEST(MovingSkew, DriftKeepsTheSpreadOfTheLogarithms) {
    Routing const routing = routing_of({{"experts", "16384"}, {"skew", "lognormal:0.38+drift:8"}});
    for (std::uint32_t const index : {0U, 1U, 7U, 64U, 512U, 100000U}) {
        auto const logs = log_weights(routing, index);
        double const mean = std::accumulate(logs.begin(), logs.end(), 0.0) / 16384;
        double squares = 0;
        for (double const each : logs) {
            squares += (each - mean) * (each - mean);
        }
        EXPECT_NEAR(std::sqrt(squares / 16384), 0.701, 0.016) << index;
        EXPECT_EQ(*std::max_element(logs.begin(), logs.end()), 0) << "the largest weight is 1";
    }
}

TEST(MovingSkew, DriftOfEqualWeightsIsNone) {
    EXPECT_EQ(weights_at("lognormal:0+drift:8", 100), std::vector<double>(16, 1.0));
}

TEST(MovingSkew, DrawsSayTheirState) {
    Parameters const parameters{{"experts", "16"}, {"tokens", "64"}, {"skew", "zipf:2+rotating:4+burst:0.2:2"}};
    auto const moe = make_moe(parameters, {4, 4});
    Routing const routing = routing_of(parameters);
    auto const start = weights_at("zipf:2", 0);
    auto const hottest = static_cast<std::size_t>(std::max_element(start.begin(), start.end()) - start.begin());
    for (std::uint32_t index = 0; index < 40; ++index) {
        Draw const draw{1, index};
        auto const burst = routing.motion().burst_expert(draw, 0);
        auto const hot = static_cast<double>(burst.value_or((hottest + index / 4) % 16));
        EXPECT_EQ(statistic(*moe, 4, "in_burst", draw), burst ? 1 : 0);
        EXPECT_EQ(statistic(*moe, 4, "shift", draw), index / 4);
        EXPECT_EQ(statistic(*moe, 4, "hot_expert", draw), hot);
    }
    EXPECT_THROW((void)statistic(*make_moe({{"skew", "zipf:2"}}, {4, 4}), 4, "hot_expert"), std::out_of_range);
}

}  // namespace
}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/sizes/inequality.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

#include <string>

namespace dlmb::moe_alltoall {
namespace {

std::vector<std::string> labels(Parameters overrides, WorldShape const& world) {
    overrides.emplace("tokens", "8");
    return dlmb::labels(build_one(*make_moe(overrides, world), 0, {}));
}

using Labels = std::vector<std::string>;

TEST(MoePlan, StepsOfOneLayer) {
    EXPECT_EQ(labels({}, {4, 4}), (Labels{"count_exchange", "dispatch", "combine"}));
    EXPECT_EQ(labels({{"wire", "padded"}}, {4, 4}), (Labels{"dispatch", "combine"}));
    EXPECT_EQ(labels({{"probs", "on"}}, {4, 4}), (Labels{"count_exchange", "dispatch", "dispatch.probs", "combine"}));
    EXPECT_EQ(labels({{"wire", "node_dedup"}}, {4, 4}), (Labels{"count_exchange", "dispatch.rank", "combine.rank"}));
    EXPECT_EQ(labels({{"wire", "node_dedup"}}, {4, 2}),
              (Labels{"count_exchange", "dispatch.node", "dispatch.rank", "combine.rank", "combine.node"}));
}

// No counts go before: every rank knows the slots.
TEST(MoePlan, StepsOfLowLatency) {
    Plan const plan = build_one(*make_moe({{"wire", "low_latency"}, {"tokens", "8"}, {"layers", "2"}}, {4, 4}), 1, {});
    EXPECT_EQ(dlmb::labels(plan), (Labels{"dispatch.put.0", "dispatch.wait.0", "combine.put.0", "combine.wait.0",
                                          "dispatch.put.1", "dispatch.wait.1", "combine.put.1", "combine.wait.1"}));
    std::vector<std::vector<StepId>> const after{{}, {}, {0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}};
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        EXPECT_EQ(plan.steps[step].after, after[step]) << step;
    }
}

TEST(MoePlan, LowLatencyIsForForwardPassesOfItsRows) {
    auto const said = [](Parameters parameters) {
        parameters.emplace("wire", "low_latency");
        return refusal(parameters, {2, 2});
    };
    EXPECT_EQ(said({{"element", "fp32"}}), "--wire low_latency: --element fp32: its rows are bf16, or fp8 with scales");
    EXPECT_EQ(said({{"direction", "both"}}),
              "--wire low_latency: --direction both: it is for inference, which goes forward only");
    EXPECT_EQ(said({{"probs", "on"}}), "--wire low_latency: --probs on: weights stay where the tokens come from");
    EXPECT_EQ(said({{"quantize", "mxfp8"}}),
              "--wire low_latency: --quantize mxfp8: --element fp8 has the bytes of quantized rows");
}

TEST(MoePlan, StepsOfSeveralLayersAndDirections) {
    EXPECT_EQ(labels({{"layers", "2"}}, {4, 4}),
              (Labels{"count_exchange.0", "dispatch.0", "combine.0", "count_exchange.1", "dispatch.1", "combine.1"}));
    EXPECT_EQ(labels({{"direction", "backward"}}, {4, 4}), (Labels{"combine.backward", "dispatch.backward"}));
    EXPECT_EQ(labels({{"direction", "both"}, {"layers", "2"}, {"wire", "padded"}}, {4, 4}),
              (Labels{"dispatch.0", "combine.0", "dispatch.1", "combine.1", "combine.backward.1", "dispatch.backward.1",
                      "combine.backward.0", "dispatch.backward.0"}));
}

TEST(MoePlan, EachStepWaitsForTheOneBefore) {
    Plan const plan = build_one(*make_moe({{"direction", "both"}, {"tokens", "8"}}, {4, 4}), 1, {});
    EXPECT_TRUE(plan.steps.at(0).after.empty());
    for (StepId step = 1; step < plan.steps.size(); ++step) {
        EXPECT_EQ(plan.steps[step].after, std::vector<StepId>{step - 1});
    }
}

TEST(MoePlan, GroupsAreConsecutiveRanks) {
    Plan const plan = build_one(*make_moe({{"ep", "4"}}, {12, 4}), 6, {});
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_EQ(plan.groups[0].members, (std::vector<Rank>{4, 5, 6, 7}));
}

TEST(MoePlan, RelaysSitAtTheSamePlaceOfEveryNode) {
    Plan const plan = build_one(*make_moe({{"wire", "node_dedup"}, {"tokens", "8"}}, {8, 2}), 3, {});
    auto const members = [&](char const* label) { return plan.groups.at(exchange_of(plan, label).group).members; };
    EXPECT_EQ(members("dispatch.node"), (std::vector<Rank>{1, 3, 5, 7}));
    EXPECT_EQ(members("dispatch.rank"), (std::vector<Rank>{2, 3}));
}

TEST(MoePlan, CountsOfTheWrongSizeAreRefused) {
    auto const pattern = make_moe({}, {4, 4});
    RankSetup const own = pattern->setup_of(0, {});
    EXPECT_THROW((void)pattern->build(0, {}, own, std::span(own.counts_to_send).first(1)), Error);
    RankSetup cut = own;
    cut.counts_to_send[2].counts.clear();
    EXPECT_THROW((void)pattern->build(0, {}, cut, own.counts_to_send), Error);
}

// 262144 tokens of Mixtral 8x22B: 6.0 GiB per rank and exchange, 3.0 GiB per peer.
TEST(MoePlan, TotalsAbove32BitsBuild) {
    WorldShape const world{2, 2};
    auto const plans = build_all(*make_moe({{"tokens", "262144"}}, world, "mixtral-8x22b"), world, {});
    EXPECT_EQ(total(exchange_of(plans[0], "dispatch").send), Bytes{262144} * 2 * 12288);
    EXPECT_GT(exchange_of(plans[0], "dispatch").send.at(1).bytes, Bytes{1} << 31);
    EXPECT_EQ(problem_of(plans), "");
}

TEST(MoeStatistics, AreThoseOfTheEmittedCounts) {
    WorldShape const world{4, 2};
    for (char const* ep : {"4", "2"}) {
        auto const pattern =
            make_moe({{"experts", "8"}, {"top-k", "2"}, {"skew", "hot_rank:4"}, {"ep", ep}, {"tokens", "64"}}, world);
        auto const plans = build_all(*pattern, world, {});
        std::vector<std::uint64_t> received;
        for (Plan const& plan : plans) {
            received.push_back(total(exchange_of(plan, "dispatch").recv));
        }
        EXPECT_NEAR(statistic(*pattern, world.ranks, "max_mean_rank"), max_over_mean(received), 1e-12) << ep;
        EXPECT_NEAR(statistic(*pattern, world.ranks, "gini_rank"), gini(received), 1e-12) << ep;
        EXPECT_EQ(statistic(*pattern, world.ranks, "rows_total"), 4 * 64 * 2);
        EXPECT_GT(statistic(*pattern, world.ranks, "gini_expert"), 0.1);
    }
}

TEST(MoeStatistics, PaddedCountsWhatIsDropped) {
    WorldShape const world{2, 2};
    auto const dropped_at = [&](char const* factor) {
        auto const pattern = make_moe({{"experts", "4"},
                                       {"top-k", "1"},
                                       {"tokens", "100"},
                                       {"wire", "padded"},
                                       {"skew", "balanced"},
                                       {"capacity-factor", factor}},
                                      world);
        return statistic(*pattern, world.ranks, "dropped_tokens");
    };
    EXPECT_EQ(dropped_at("1.0"), 0);
    EXPECT_EQ(dropped_at("0.8"), 2 * 4 * 5);  // 20 slots for 25 rows, 4 experts, 2 sources
}

}  // namespace
}  // namespace dlmb::moe_alltoall

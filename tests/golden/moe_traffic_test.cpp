// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published traffic of published models.
#include "common/formats/plan/traffic.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

#include <map>

namespace dlmb::moe_alltoall {
namespace {

Plan plan_of(std::string_view preset, Parameters const& overrides, WorldShape const& world) {
    return build_one(*make_moe(overrides, world, preset), 0, {});
}

// One dispatch of 4096 tokens, one row per (token, expert), bf16: tokens * top_k * 2 * hidden.
TEST(MoeTraffic, ExpandedDispatchOfPublishedModels) {
    std::map<std::string_view, Bytes> const published{{"deepseek-v3", 469'762'048},
                                                      {"kimi-k2", 469'762'048},
                                                      {"mixtral-8x7b", 67'108'864},
                                                      {"qwen3-235b-a22b", 268'435'456},
                                                      {"gpt-oss-120b", 94'371'840}};
    for (auto const& [preset, bytes] : published) {
        Plan const plan = plan_of(preset, {}, {2, 2});
        EXPECT_EQ(total(exchange_of(plan, "dispatch").send), bytes) << preset;
        EXPECT_EQ(total(exchange_of(plan, "combine").recv), bytes) << preset;
    }
}

TEST(MoeTraffic, ProbabilitiesOfDeepSeekV3) {
    EXPECT_EQ(total(exchange_of(plan_of("deepseek-v3", {{"probs", "on"}}, {2, 2}), "dispatch.probs").send), 131'072U);
    // DeepEP: a row that serves several experts has the fp32 weights and the int64 experts of all 8 choices, back only
    // the weights' gradients.
    Plan const deduplicated =
        plan_of("deepseek-v3", {{"probs", "on"}, {"wire", "rank_dedup"}, {"direction", "both"}}, {2, 2});
    Bytes const rows = total(exchange_of(deduplicated, "dispatch").send) / (2 * 7168);
    EXPECT_EQ(total(exchange_of(deduplicated, "dispatch.probs").send), rows * 8 * (4 + 8));
    EXPECT_EQ(total(exchange_of(deduplicated, "dispatch.probs.backward").recv), rows * 8 * 4);
    Plan const relayed = plan_of("deepseek-v3", {{"probs", "on"}, {"wire", "node_dedup"}}, {4, 2});
    Bytes const handed_on = total(exchange_of(relayed, "dispatch.node").send) / (2 * 7168);
    EXPECT_EQ(total(exchange_of(relayed, "dispatch.probs.node").send), handed_on * 8 * (4 + 4))
        << "int32 between nodes";
}

// Megatron's count AllGather: 8 bytes per expert and rank.
TEST(MoeTraffic, CountExchangePerRank) {
    std::map<std::string_view, Bytes> const published{{"deepseek-v3", 2048}, {"kimi-k2", 3072}, {"mixtral-8x7b", 64}};
    for (auto const& [preset, bytes] : published) {
        Plan const plan = plan_of(preset, {{"tokens", "8"}}, {8, 8});
        auto const& gather = std::get<Collective>(steps_with(plan, "count_exchange").at(0)->operation);
        EXPECT_EQ(gather.bytes, 8 * bytes) << preset;
        EXPECT_EQ(gather.element, Element::int64);
    }
}

TEST(MoeTraffic, MixtralOnEightRanksBalancedIs8MiBPerPeer) {
    Plan const plan = plan_of("mixtral-8x7b", {{"skew", "balanced"}}, {8, 8});
    ASSERT_EQ(exchange_of(plan, "dispatch").send.size(), 8U);
    for (Block const& block : exchange_of(plan, "dispatch").send) {
        EXPECT_EQ(block.bytes, 8'388'608U);
    }
}

// DeepSpeed's dense tensor: 8192 tokens, capacity 64, 128 experts of 1024 fp16 values: 16 MiB per rank.
TEST(MoeTraffic, DeepSpeedMoe350M) {
    Plan const at_128 = plan_of("ds-moe-350m-128", {}, {128, 8});
    EXPECT_EQ(total(exchange_of(at_128, "dispatch").send), 16'777'216U);
    EXPECT_EQ(exchange_of(at_128, "dispatch").send.at(127).bytes, 131'072U);
    EXPECT_EQ(exchange_of(plan_of("ds-moe-350m-128", {}, {8, 8}), "dispatch").send.at(7).bytes, 2'097'152U);
}

TEST(MoeTraffic, SwitchBaseHasAFixedCapacityOf64) {
    Plan const plan = plan_of("switch-base-8", {}, {8, 8});
    EXPECT_EQ(exchange_of(plan, "dispatch").send.at(3).bytes, 64U * 768U * 2U);
}

// One dispatch row per (token, expert) at 128 tokens in fp8 with scales; DeepEP's own low-latency row has 16 bytes
// more.
TEST(MoeTraffic, DecodeBatchOfDeepSeekV3) {
    Plan const plan = plan_of("deepseek-v3-decode", {}, {8, 8});
    EXPECT_EQ(total(exchange_of(plan, "dispatch").send), 7'585'792U - 128U * 8U * 16U);
    EXPECT_EQ(total(exchange_of(plan, "combine").recv), 14'680'064U);
}

// DeepEP's low-latency kernels (csrc/kernels/internode_ll.cu): per rank and dispatch T * k messages of
// 16 + h + 4 * h / 128 = 7408 B and a flag for each of E experts, per combine T * k rows of 2 h and as many flags. 77
// and 114 us make of these bytes the published 98 and 127 GB/s of 8 ranks.
TEST(MoeTraffic, LowLatencyOfDeepEp) {
    for (int const ranks : {1, 8, 16}) {
        auto const pattern = make_moe({}, {ranks, 8}, "deepep-low-latency");
        for (Plan const& plan : {build_one(*pattern, 0, {}), build_one(*pattern, ranks - 1, {})}) {
            auto const& dispatch = std::get<Put>(steps_with(plan, "dispatch.put").at(0)->operation);
            auto const& combine = std::get<WaitSignal>(steps_with(plan, "combine.wait").at(0)->operation);
            EXPECT_EQ(dispatch.send.size(), 1024U);
            EXPECT_EQ(dispatch.signals.size(), 288U);
            EXPECT_EQ(dispatch.send.front().bytes, 7408U);
            EXPECT_EQ(total(dispatch.send), 7'585'792U);
            EXPECT_EQ(combine.recv.size(), 1024U);
            EXPECT_EQ(combine.signals.size(), 288U);
            EXPECT_EQ(total(combine.recv), 14'680'064U);
            RankTraffic const traffic = traffic_of(plan, "dispatch");
            EXPECT_EQ(traffic.payload - traffic.self, traffic.out) << "rows for experts of the own rank stand apart";
            EXPECT_EQ(traffic.self % 7408, 0U);
            EXPECT_EQ(traffic.messages, traffic.out / 7408 + 288 - 288 / static_cast<unsigned>(ranks));
        }
    }
    Plan const bf16 = plan_of("deepep-low-latency", {{"element", "bf16"}}, {8, 8});
    EXPECT_EQ(total(std::get<Put>(steps_with(bf16, "dispatch.put").at(0)->operation).send), 1024U * 14352);
}

// Slots are as many as each source has tokens: 288 * 128 of 7408 B, and of 14336 B for what comes back.
TEST(MoeTraffic, LowLatencyHasASlotPerTokenSourceAndExpert) {
    Plan const plan = plan_of("deepep-low-latency", {}, {8, 8});
    auto const bytes = [&](char const* label) {
        return plan.buffers.at(std::get<WaitSignal>(steps_with(plan, label).at(0)->operation).buffer).bytes;
    };
    EXPECT_EQ(bytes("dispatch.wait"), 128U + 36U * 8 * 128 * 7408);
    EXPECT_EQ(bytes("combine.wait"), 128U + 288U * 128 * 14336);
}

Parameters const uniform{{"skew", "lognormal:0"}, {"group-limit", "0"}};

// Distinct destinations of k = 8 uniform choices among E = 256 experts on R ranks: R * (1 - C(E-E/R, k) / C(E, k)). The
// spread of one token's count is below 1, so 0.03 is above three standard deviations of a mean over 16384 tokens.
TEST(MoeTraffic, UniformRoutingReachesThatManyRanks) {
    for (auto const& [ranks, expected] :
         {std::pair(2, 1.993020), std::pair(4, 3.614214), std::pair(8, 5.294652), std::pair(64, 7.675750)}) {
        EXPECT_NEAR(statistic(*make_moe(uniform, {ranks, 8}, "deepseek-v3"), 4, "ranks_per_token"), expected, 0.03)
            << ranks;
    }
}

// Prefill of 4096 tokens over eight ranks in fp8: 4096 * 5.294652 = 21,687 rows = 160.3 MB instead of 32,768 = 242 MB.
// One standard deviation of the sum is 64 * 0.93 rows.
TEST(MoeTraffic, PrefillOfDeepSeekV3WithRankDedup) {
    Parameters const parameters{
        {"skew", "lognormal:0"}, {"group-limit", "0"}, {"wire", "rank_dedup"}, {"element", "fp8"}};
    Bytes const bytes = total(exchange_of(plan_of("deepseek-v3", parameters, {8, 8}), "dispatch").send);
    EXPECT_EQ(bytes % 7392, 0U);
    EXPECT_NEAR(static_cast<double>(bytes) / 7392, 21'687, 240);
}

// Limit 4 of 8 groups, 64 ranks on 8 nodes, a group competes with its best member: 7.47 ranks and 3.98 nodes per token
// (simulation of 200,000 tokens, independent of the score distribution).
TEST(MoeTraffic, GroupLimitedRoutingReachesFewerNodes) {
    Parameters const limited{{"skew", "lognormal:0"}, {"group-score", "best"}};
    auto const pattern = make_moe(limited, {64, 8}, "deepseek-v3");
    EXPECT_NEAR(statistic(*pattern, 4, "ranks_per_token"), 7.47, 0.03);
    EXPECT_NEAR(statistic(*pattern, 4, "nodes_per_token"), 3.98, 0.02);
    EXPECT_NEAR(statistic(*make_moe(uniform, {64, 8}, "deepseek-v3"), 4, "nodes_per_token"), 5.29, 0.03);
}

// DeepSeek-V3's fp8 rows, h + 4 * ceil(h / 128), whether they are sent as such or packed for the way; MX rows have one
// byte per 32 values: h + h / 32, and half of h + h / 32 for fp4.
TEST(MoeTraffic, PackedRowsAreAsLargeAsPublished) {
    Parameters const packed{{"quantize", "fp8:128:fp32"}, {"element", "bf16"}};
    Plan const plan = plan_of("deepseek-v3", packed, {2, 2});
    EXPECT_EQ(total(exchange_of(plan, "dispatch").send), 4096U * 8 * 7392);
    EXPECT_EQ(total(exchange_of(plan, "dispatch").send),
              total(exchange_of(plan_of("deepseek-v3", {{"element", "fp8"}}, {2, 2}), "dispatch").send));
    EXPECT_EQ(total(exchange_of(plan, "combine").recv), 4096U * 8 * 14336) << "combined in bf16";
    Plan const mx =
        plan_of("deepseek-v3", {{"quantize", "mxfp8"}, {"quantize-combine", "mxfp4"}, {"element", "bf16"}}, {2, 2});
    EXPECT_EQ(total(exchange_of(mx, "dispatch").send), 4096U * 8 * (7168 + 224));
    EXPECT_EQ(total(exchange_of(mx, "combine").recv), 4096U * 8 * (3584 + 224));
    EXPECT_EQ(steps_with(mx, "pack.combine").size(), 1U);
    EXPECT_EQ(steps_with(mx, "unpack.combine").size(), 1U);
}

// gpt-oss: 2880 values are 22.5 blocks of 128.
TEST(MoeTraffic, APartOfABlockHasAScale) {
    Plan const plan = plan_of("gpt-oss-120b", {{"quantize", "int4:128:fp32"}}, {2, 2});
    EXPECT_EQ(total(exchange_of(plan, "dispatch").send), 4096U * 4 * (1440 + 23 * 4));
}

}  // namespace
}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published traffic of tensor-parallel training and inference.
#include "patterns/tp_allreduce/tp_allreduce.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

namespace dlmb::tp_allreduce {
namespace {

constexpr TypeUnderTest tp{type};

WorldShape const aicb_world{128, 8};

// AICB, workload/physical/model_workload/G13B-M1-C01: 81 + 81 allreduces of b * s * h * 2 B = 2048 * 5120 * 2.
TEST(TpTraffic, Gpt13bOnEightRanks) {
    Plan const plan = tp.plan("gpt-13b", {{"tp", "8"}}, aicb_world);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "embedding"), repeated(1, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits"), repeated(1, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "backward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "cross_entropy"), repeated(3, 8'192));
    EXPECT_EQ(sizes<OperationKind::broadcast>(plan, ""), (std::vector<Bytes>{40, 17'408}));
    EXPECT_EQ(plan.steps.size(), 81U + 81U + 3U + 2U);
}

// Full recomputation adds the forward collectives of every layer: 4 L + 1 in the backward pass.
TEST(TpTraffic, Gpt13bWithFullRecomputation) {
    Plan const plan = tp.plan("gpt-13b", {{"tp", "8"}, {"recompute", "full"}}, aicb_world);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "backward"), repeated(160, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits"), repeated(1, 20'971'520));
}

// AICB, G13B-M1-C02: forward 80 + 80 + 1, backward 160 + 80 + 1, norms 40 layers * 2 * 2 * 5120 * 2 B.
TEST(TpTraffic, Gpt13bWithSequenceParallelism) {
    Plan const plan = tp.plan("gpt-13b-sp", {{"tp", "8"}}, aicb_world);
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "forward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "forward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "embedding"), repeated(1, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "backward"), repeated(160, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "backward"), repeated(80, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits"), repeated(1, 20'971'520));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "norm_gradients"), repeated(1, 1'638'400));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "cross_entropy"), repeated(3, 8'192));
}

// megatron-core 0.12, hidden 256, 2 layers: (6 L + 2) h elements of bf16 for a GPT, (2 L + 1) h for a LLaMA.
TEST(TpTraffic, GradientsThatSequenceParallelismLeavesPartial) {
    Parameters parameters{{"tp", "2"},         {"hidden", "256"},           {"layers", "2"},     {"vocabulary", "1024"},
                          {"sequence", "128"}, {"sequence-parallel", "on"}, {"edges", "scatter"}};
    auto const bytes = [&] {
        return sizes<OperationKind::all_reduce>(tp.plan("", parameters, {2, 2}), "norm_gradients");
    };
    EXPECT_EQ(bytes(), repeated(1, 7'168));
    parameters["norm"] = "rmsnorm";
    EXPECT_EQ(bytes(), repeated(1, 2'560));
    parameters["gradient-element"] = "fp32";  // its main_grad with grad_reduce_in_fp32
    EXPECT_EQ(bytes(), repeated(1, 5'120));
    parameters = {{"tp", "8"}};
    Plan const plan = tp.plan("gpt3-175b-sp", parameters, {8, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "norm_gradients"), repeated(1, Bytes{6 * 96 + 2} * 12288 * 4));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "forward"), repeated(192, Bytes{2048} * 12288 * 2));
}

// AICB, L7B-M1-C04: 65 + 65 allreduces of 2048 * 4096 * 2 B.
TEST(TpTraffic, Llama7bOnTwoRanks) {
    Plan const plan = tp.plan("llama-7b", {{"tp", "2"}}, aicb_world);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "embedding").size() +
                  sizes<OperationKind::all_reduce>(plan, "forward").size(),
              65U);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits").size() +
                  sizes<OperationKind::all_reduce>(plan, "backward").size(),
              65U);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(64, 16'777'216));
}

// LLaMA-65B, TP 2, PP 8: 80 / 8 layers a stage make 20 forward allreduces, and one more on the first stage.
TEST(TpTraffic, EightStagesOfLlama65b) {
    Parameters const parameters{{"tp", "2"}, {"pp", "8"}, {"layers", "80"}, {"hidden", "8192"}};
    WorldShape const world{16, 8};
    for (Rank const rank : {0, 2, 14}) {
        Plan const plan = tp.plan("", parameters, world, rank);
        EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(20, Bytes{2048} * 8192 * 2));
        EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "embedding").size(), rank == 0 ? 1U : 0U);
        EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits").size(), rank == 14 ? 1U : 0U);
    }
}

// One token step of a 70B model (80 layers, hidden 8192): 160 allreduces of batch * 8192 * 2 B.
TEST(TpTraffic, DecodeOfLlama70b) {
    Plan const plan = tp.plan("llama-70b-decode", {}, {8, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(160, 16'384));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "logits"), repeated(1, Bytes{32'000} * 2));
    EXPECT_TRUE(fully_checked(plan));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(tp.plan("llama-70b-decode-b32", {}, {8, 8}), "forward"),
              repeated(160, 524'288));
}

// Every drafted token is one more row: 8 * (4 + 1) rows of 8192 bf16.
TEST(TpTraffic, DraftedTokensMultiplyTheBatch) {
    Plan const plan = tp.plan("llama-70b-decode-draft4", {}, {8, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(160, Bytes{40} * 16'384));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "logits.argmax"), repeated(1, Bytes{40} * 8));
}

TEST(TpTraffic, DecodeOfLlama405bAtBatch64) {
    EXPECT_EQ(sizes<OperationKind::all_reduce>(tp.plan("llama3-405b-decode", {}, {8, 8}), "forward"),
              repeated(252, 2'097'152));
}

// n * h * 2 B; logits only of the last token: 32000 columns.
TEST(TpTraffic, PrefillOfLlama70b) {
    Plan const plan = tp.plan("llama-70b-prefill", {}, {8, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "forward"), repeated(160, Bytes{4096} * 8192 * 2));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "logits"), repeated(1, Bytes{32'000} * 2));
}

}  // namespace
}  // namespace dlmb::tp_allreduce

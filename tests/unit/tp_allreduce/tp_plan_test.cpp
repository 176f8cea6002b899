// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/tp_allreduce.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

namespace dlmb::tp_allreduce {
namespace {

constexpr TypeUnderTest tp{type};

using Labels = std::vector<std::string>;

TEST(TpPlan, TrainingStepsOfOneLayer) {
    EXPECT_EQ(labels(tp.plan("", {{"layers", "1"}}, {2, 2})),
              (Labels{"input_broadcast.shape", "input_broadcast.tokens", "embedding", "forward.attention.0",
                      "forward.mlp.0", "cross_entropy.largest", "cross_entropy.target", "cross_entropy.exponentials",
                      "logits.backward", "backward.mlp.0", "backward.attention.0"}));
}

TEST(TpPlan, RecomputeRunsTheForwardOfALayerBeforeItsBackward) {
    Labels const found = labels(tp.plan("", {{"layers", "2"}, {"recompute", "full"}}, {2, 2}));
    EXPECT_EQ(Labels(found.end() - 8, found.end()),
              (Labels{"backward.recompute.attention.1", "backward.recompute.mlp.1", "backward.mlp.1",
                      "backward.attention.1", "backward.recompute.attention.0", "backward.recompute.mlp.0",
                      "backward.mlp.0", "backward.attention.0"}));
}

TEST(TpPlan, SequenceParallelStepsOfOneLayer) {
    EXPECT_EQ(labels(tp.plan("", {{"layers", "1"}, {"sequence-parallel", "on"}, {"edges", "scatter"}}, {2, 2})),
              (Labels{"input_broadcast.shape",
                      "input_broadcast.tokens",
                      "embedding.scatter",
                      "forward.attention.gather.0",
                      "forward.attention.scatter.0",
                      "forward.mlp.gather.0",
                      "forward.mlp.scatter.0",
                      "logits.gather",
                      "cross_entropy.largest",
                      "cross_entropy.target",
                      "cross_entropy.exponentials",
                      "logits.backward.regather",
                      "logits.backward.scatter",
                      "backward.mlp.gather.0",
                      "backward.mlp.regather.0",
                      "backward.mlp.scatter.0",
                      "backward.attention.gather.0",
                      "backward.attention.regather.0",
                      "backward.attention.scatter.0",
                      "embedding.gather",
                      "norm_gradients"}));
}

TEST(TpPlan, StagesRunTheirShareOfTheLayers) {
    Parameters const two_stages{{"layers", "2"}, {"pp", "2"}};
    EXPECT_EQ(labels(tp.plan("", two_stages, {4, 4}, 1)),
              (Labels{"input_broadcast.shape", "input_broadcast.tokens", "embedding", "forward.attention.0",
                      "forward.mlp.0", "backward.mlp.0", "backward.attention.0"}));
    EXPECT_EQ(labels(tp.plan("", two_stages, {4, 4}, 2)),
              (Labels{"input_broadcast.shape", "input_broadcast.tokens", "forward.attention.1", "forward.mlp.1",
                      "cross_entropy.largest", "cross_entropy.target", "cross_entropy.exponentials", "logits.backward",
                      "backward.mlp.1", "backward.attention.1"}));
    WorldShape const world{8, 4};
    EXPECT_EQ(problem_of(*tp.make("", {{"layers", "4"}, {"pp", "4"}, {"tp", "2"}}, world), world), "");
}

TEST(TpPlan, DecodeStepsOfOneLayer) {
    Parameters const decode{{"phase", "decode"}, {"layers", "1"}};
    EXPECT_EQ(labels(tp.plan("", decode, {2, 2})),
              (Labels{"embedding", "forward.attention.0", "forward.mlp.0", "logits"}));
    Parameters two_tokens = decode;
    two_tokens.insert({{"steps", "2"}, {"logits", "none"}});
    EXPECT_EQ(labels(tp.plan("", two_tokens, {2, 2})), (Labels{"embedding", "forward.attention.0", "forward.mlp.0",
                                                               "embedding", "forward.attention.0", "forward.mlp.0"}));
}

TEST(TpPlan, EachStepWaitsForTheOneBefore) {
    Plan const plan = tp.plan("", {{"sequence-parallel", "on"}}, {4, 4}, 3);
    EXPECT_TRUE(plan.steps.at(0).after.empty());
    for (StepId step = 1; step < plan.steps.size(); ++step) {
        EXPECT_EQ(plan.steps[step].after, std::vector<StepId>{step - 1});
    }
}

TEST(TpPlan, TheFirstStepsHaveBuffersOfTheirOwnUpToTheLimit) {
    // Three allreduces of 1 MiB need 6 MiB, the broadcasts less than 64 KiB.
    Parameters const small{{"layers", "1"}, {"hidden", "256"}, {"memory-limit", "7M"}};
    Plan const plan = tp.plan("", small, {2, 2});
    auto const is_shared = [&](std::string_view label) {
        auto const& step = std::get<Collective>(steps_with(plan, label).at(0)->operation);
        return plan.buffers.at(step.recv.buffer).shared;
    };
    EXPECT_FALSE(is_shared("embedding"));
    EXPECT_FALSE(is_shared("forward.mlp.0"));
    EXPECT_TRUE(is_shared("backward.mlp.0"));
    EXPECT_TRUE(fully_checked(tp.plan("", {{"layers", "1"}, {"hidden", "256"}}, {2, 2})));
}

TEST(TpPlan, OperationsAreThoseOfThePlan) {
    auto const kinds = [](Parameters const& overrides) {
        std::vector<OperationKind> found;
        for (OperationUse const& use : tp.make("", overrides, {2, 2})->operations()) {
            found.push_back(use.kind);
        }
        return found;
    };
    using Kind = OperationKind;
    EXPECT_EQ(kinds({}), (std::vector{Kind::all_reduce, Kind::broadcast}));
    EXPECT_EQ(kinds({{"sequence-parallel", "on"}}),
              (std::vector{Kind::all_gather, Kind::reduce_scatter, Kind::all_reduce, Kind::broadcast}));
    EXPECT_EQ(kinds({{"phase", "decode"}}), (std::vector{Kind::all_reduce, Kind::all_gather}));
    EXPECT_EQ(kinds({{"phase", "decode"}, {"logits", "argmax"}}), (std::vector{Kind::all_reduce}));
}

TEST(TpPlan, GathersOfActivationsArePackedAndNothingElse) {
    WorldShape const world{4, 4};
    Parameters const parameters{
        {"sequence-parallel", "on"}, {"edges", "scatter"},        {"layers", "1"}, {"hidden", "33"},
        {"sequence", "12"},          {"quantize", "int4:32:fp32"}};
    Plan const plan = tp.plan("", parameters, world);
    std::size_t packs = 0;
    for (Step const& step : plan.steps) {
        packs += phase_of(step.label) == "pack" ? 1U : 0U;
        if (auto const* const gather = std::get_if<Collective>(&step.operation);
            gather != nullptr && gather->kind == OperationKind::all_gather) {
            // 12 * 33 / 4 = 99 numbers of each rank: 50 bytes of codes and 4 scales.
            EXPECT_EQ(gather->bytes, 4U * (50 + 16)) << step.label;
        }
    }
    EXPECT_EQ(packs, 9U);  // 2 forward, 4 backward; logits and their backward, embedding
    EXPECT_EQ(problem_of(*tp.make("", parameters, world), world), "");
}

// 3 rows of logits, 20 words over 2 ranks in bf16: a row of a rank has 20 bytes, no multiple of 8; in fp32 it has 40.
Parameters decode_of_three(std::string const& pack) {
    return {{"phase", "decode"},  {"layers", "1"},     {"hidden", "8"}, {"batch", "3"},
            {"vocabulary", "20"}, {"element", "fp32"}, {"pack", pack}};
}

// Megatron-LM, tensor_parallel/mappings.py, _gather_along_last_dim: what arrives as [ranks, rows, words / ranks]
// becomes [rows, words].
TEST(TpPlan, GatheredLogitsArePutInOrderByWords) {
    WorldShape const world{2, 2};
    Plan const plan = tp.plan("", decode_of_three("host"), world, 1);
    EXPECT_EQ(labels(plan), (Labels{"embedding", "forward.attention.0", "forward.mlp.0", "logits", "unpack.logits"}));
    EXPECT_EQ(plan.steps[4].after, (std::vector<StepId>{3}));
    auto const& gather = std::get<Collective>(plan.steps[3].operation);
    EXPECT_EQ(gather.bytes, 3U * 20 * 4);
    auto const& rows = std::get<Compute>(plan.steps[4].operation).rearrangement.value();
    EXPECT_EQ(rows.by, Processor::host);
    EXPECT_EQ(rows.from, gather.recv.buffer);
    // Behind guards of 64 bytes: rows of rank 0 are at even places of the tensor, those of rank 1 at odd ones.
    EXPECT_EQ(rows.runs, (std::vector<RowRun>{{3, 64, 64, 40, 80}, {3, 64 + 120, 64 + 40, 40, 80}}));
    EXPECT_EQ(problem_of(*tp.make("", decode_of_three("host"), world), world), "");
    EXPECT_EQ(tp.plan("", decode_of_three("none"), world).steps.size(), 4U);
}

TEST(TpPlan, FusedLogitsAreOneExchangeThatPutsEachRowWhereItBelongs) {
    WorldShape const world{4, 4};
    for (char const* steps : {"1", "3"}) {
        Parameters parameters = decode_of_three("fused");
        parameters.insert({{"tp", "2"}, {"steps", steps}});
        Plan const plan = tp.plan("", parameters, world, 3);
        auto const& exchange = std::get<Exchange>(plan.steps[3].operation);
        EXPECT_EQ(exchange.recv, (std::vector<Block>{{0, 0, 120}, {1, 120, 120}}));
        ASSERT_TRUE(exchange.scattered);
        EXPECT_EQ(exchange.scattered->received.runs, (std::vector<RowPlaces>{{3, 64, 80}, {3, 104, 80}}));
        EXPECT_EQ(exchange.scattered->received.origins, (std::vector<Bytes>{0, 40, 80, 0, 40, 80}));
        EXPECT_EQ(problem_of(*tp.make("", parameters, world), world), "");
        EXPECT_EQ(tp.make("", parameters, world)->operations().front(),
                  (OperationUse{OperationKind::exchange, false, true}));
    }
}

TEST(TpParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(tp.refusal({{"tp", "3"}}, {8, 8}), "--tp 3: does not divide 8 ranks");
    EXPECT_EQ(tp.refusal({{"pp", "3"}}, {8, 8}), "--pp 3: does not divide 8 ranks");
    EXPECT_EQ(tp.refusal({{"pp", "4"}, {"layers", "6"}}, {8, 8}), "--pp 4: does not divide --layers 6");
    EXPECT_EQ(tp.refusal({{"pp", "2"}, {"tp", "8"}}, {8, 8}),
              "--tp 8: does not divide the 4 ranks of a stage (8 ranks, --pp 2)");
    EXPECT_EQ(tp.refusal({{"sequence-parallel", "on"}, {"sequence", "100"}}, {8, 8}),
              "--sequence-parallel on: --sequence 100 does not divide over 8 tensor-parallel ranks");
    EXPECT_EQ(tp.refusal({{"sequence-parallel", "on"}, {"phase", "decode"}, {"batch", "12"}}, {8, 8}),
              "--sequence-parallel on: 12 tokens do not divide over 8 tensor-parallel ranks");
}

TEST(TpParams, WrongValuesAreRefusedByName) {
    EXPECT_EQ(tp.refusal({{"phase", "inference"}}, {1, 1}), "--phase 'inference': expected training, prefill, decode");
    EXPECT_EQ(tp.refusal({{"hidden", "0"}}, {1, 1}), "--hidden '0': expected a whole number from 1 to 16777216");
    EXPECT_EQ(tp.refusal({{"batch", "16777216"}, {"sequence", "16777216"}}, {1, 1}),
              "--batch 16777216 and --sequence 16777216 make 281474976710656 tokens; at most 4294967296 are possible");
}

TEST(TpParams, OnlyLogitsThatAreGatheredCanBePutInOrder) {
    std::string const only = "--pack host: only gathered logits are put in another order (--phase prefill or decode "
                             "with --logits allgather); all else is gathered by tokens, as it lies";
    EXPECT_EQ(tp.refusal({{"pack", "host"}}, {2, 2}), only);
    EXPECT_EQ(tp.refusal({{"pack", "host"}, {"phase", "decode"}, {"logits", "argmax"}}, {2, 2}), only);
    EXPECT_EQ(tp.refusal({{"pack", "cuda"}, {"phase", "prefill"}, {"vocabulary", "20"}}, {2, 2}),
              "--pack cuda: rows of 20 B (--vocabulary 20 over 2 ranks, in bf16) are not a multiple of 8 B");
    EXPECT_EQ(tp.refusal({{"pack", "fused"}, {"phase", "prefill"}}, {2, 2}), "accepted");
}

TEST(TpParams, EveryRankOfAStageIsInOneGroupByDefault) {
    EXPECT_EQ(tp.plan("", {{"pp", "2"}}, {8, 8}, 5).groups.at(0).members, (std::vector<Rank>{4, 5, 6, 7}));
    EXPECT_EQ(tp.plan("", {{"tp", "2"}}, {8, 8}, 5).groups.at(0).members, (std::vector<Rank>{4, 5}));
}

}  // namespace
}  // namespace dlmb::tp_allreduce

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/dp_gradients.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

namespace dlmb::dp_gradients {
namespace {

constexpr TypeUnderTest dp{type};

using Labels = std::vector<std::string>;

Parameters flat(Parameters const& more) {
    Parameters parameters{{"model", "flat"}, {"parameters", "1000"}};
    parameters.insert(more.begin(), more.end());
    return parameters;
}

TEST(DpPlan, StepsOfEachScheme) {
    auto const of = [](char const* scheme, char const* form) {
        return labels(dp.plan("", flat({{"scheme", scheme}, {"form", form}}), {4, 4}));
    };
    EXPECT_EQ(of("ddp", "allreduce"), (Labels{"gradients.0"}));
    EXPECT_EQ(of("megatron", "allreduce"), (Labels{"gradients.0"}));
    EXPECT_EQ(of("megatron", "reduce_scatter"), (Labels{"gradients.0", "parameters.0"}));
    EXPECT_EQ(of("zero1", "allreduce"), (Labels{"gradients.0", "overflow", "parameters.0"}));
    EXPECT_EQ(of("zero2", "reduce_scatter"), (Labels{"gradients.0", "overflow", "parameters.0"}));
    EXPECT_EQ(of("zero3", "allreduce"),
              (Labels{"parameters.forward.0", "parameters.backward.0", "gradients.0", "overflow"}));
    EXPECT_EQ(of("fsdp", "allreduce"), (Labels{"parameters.forward.1", "parameters.backward.1", "gradients.1"}));
}

TEST(DpPlan, WithoutReshardingLayersAreGatheredOnce) {
    EXPECT_EQ(labels(dp.plan("", flat({{"scheme", "fsdp"}, {"reshard", "off"}}), {4, 4})),
              (Labels{"parameters.forward.1", "gradients.1"}));
}

// 1000 elements on 3 ranks: 1002, whole elements of bf16 for each.
TEST(DpPlan, WhatIsScatteredOrGatheredIsPaddedToWholeElementsPerRank) {
    WorldShape const world{3, 3};
    Plan const zero = dp.plan("", flat({{"scheme", "zero1"}, {"form", "reduce_scatter"}}), world);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(zero, ""), repeated(1, 2'004));
    EXPECT_EQ(sizes<OperationKind::all_gather>(zero, ""), repeated(1, 2'004));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(dp.plan("", flat({}), world), ""), repeated(1, 2'000));
    // Megatron-LM: to a multiple of lcm(3, 128) = 384.
    Plan const megatron = dp.plan("", flat({{"scheme", "megatron"}, {"form", "reduce_scatter"}}), world);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(megatron, ""), repeated(1, 2'304));
}

TEST(DpPlan, SchemesReduceOncePerStepOrOncePerMicroBatch) {
    auto const reductions = [](char const* scheme) {
        Plan const plan = dp.plan("", flat({{"scheme", scheme}, {"microbatches", "3"}}), {4, 4});
        return sizes<OperationKind::all_reduce>(plan, "gradients").size() +
               sizes<OperationKind::reduce_scatter>(plan, "gradients").size();
    };
    EXPECT_EQ(reductions("ddp"), 1U);
    EXPECT_EQ(reductions("megatron"), 1U);
    EXPECT_EQ(reductions("zero1"), 1U);
    EXPECT_EQ(reductions("zero2"), 3U);
    EXPECT_EQ(reductions("zero3"), 3U);
    EXPECT_EQ(reductions("fsdp"), 3U);
}

// Norms of 4096 elements stay; the other 226 tensors come in parts of at least 6e8 elements.
TEST(DpPlan, PersistentTensorsAreGatheredOnceAfterTheStep) {
    Plan const plan = dp.plan("llama-7b-zero3-prefetch", {}, {8, 8});
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.persistent"), repeated(1, Bytes{65} * 4096 * 2));
    std::vector<Bytes> const forward = sizes<OperationKind::all_gather>(plan, "parameters.forward");
    for (std::size_t i = 0; i + 1 < forward.size(); ++i) {
        EXPECT_GE(forward[i], 1'200'000'000U);
    }
    Bytes moved = Bytes{65} * 4096 * 2;
    for (Bytes const bytes : forward) {
        moved += bytes;
    }
    EXPECT_EQ(moved, 2U * std::uint64_t{6'738'415'616});
}

TEST(DpPlan, AStepWaitsForTheOneThatIsInFlightBeforeIt) {
    Parameters const two{{"in-flight", "2"}, {"bucket-bytes", "1M"}};
    Plan const plan = dp.plan("resnet-50", two, {4, 4});
    ASSERT_GT(plan.steps.size(), 5U);
    EXPECT_TRUE(plan.steps[0].after.empty());                     // buffers
    EXPECT_TRUE(plan.steps[1].after.empty());                     // buffers
    EXPECT_EQ(plan.steps[2].after, (std::vector<StepId>{0, 1}));  // gradients wait for both
    EXPECT_EQ(plan.steps[3].after, (std::vector<StepId>{0, 1}));
    EXPECT_EQ(plan.steps[4].after, (std::vector<StepId>{2}));
    EXPECT_EQ(plan.steps[5].after, (std::vector<StepId>{3}));
}

TEST(DpPlan, HoldsTogetherWithManyInFlightAndInPlace) {
    WorldShape const world{6, 3};
    for (char const* scheme : {"ddp", "megatron", "zero1", "zero2", "zero3", "fsdp"}) {
        Parameters const parameters{{"model", "resnet-50"}, {"scheme", scheme}, {"in-flight", "8"},
                                    {"in-place", "on"},     {"stride", "2"},    {"memory-limit", "64M"},
                                    {"microbatches", "2"}};
        EXPECT_EQ(problem_of(*dp.make("", parameters, world), world), "") << scheme;
    }
}

TEST(DpPlan, OnlyWhatExceedsTheMemoryLimitSharesBuffers) {
    EXPECT_TRUE(fully_checked(dp.plan("resnet-50", {}, {4, 4})));
    EXPECT_FALSE(fully_checked(dp.plan("resnet-50", {{"memory-limit", "64M"}}, {4, 4})));
}

TEST(DpPlan, GatheredParametersArePackedInEveryScheme) {
    WorldShape const world{4, 4};
    for (char const* scheme : {"megatron", "zero1", "zero2", "zero3", "fsdp"}) {
        Parameters const parameters{{"model", "flat"},          {"parameters", "1003"},        {"scheme", scheme},
                                    {"form", "reduce_scatter"}, {"quantize", "int8:128:fp32"}, {"in-place", "on"}};
        Plan const plan = dp.plan("", parameters, world);
        std::size_t gathers = 0;
        for (Step const& step : plan.steps) {
            if (auto const* const gather = std::get_if<Collective>(&step.operation);
                gather != nullptr && gather->kind == OperationKind::all_gather) {
                ++gathers;
                Bytes const share = gather->bytes / 4;
                EXPECT_GE(share, 251U + 2 * 4) << scheme;  // ceil(1003 / 4), or more with Megatron's padding
                EXPECT_LE(share, 384U + 3 * 4) << scheme;
            }
        }
        EXPECT_GE(gathers, 1U) << scheme;
        EXPECT_EQ(problem_of(*dp.make("", parameters, world), world), "") << scheme;
    }
}

TEST(DpParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(dp.refusal({{"dp", "3"}}, {8, 8}), "--dp 3: does not divide 8 ranks");
    EXPECT_EQ(dp.refusal({{"stride", "3"}}, {8, 8}), "--stride 3: does not divide 8 ranks");
    EXPECT_EQ(dp.refusal({{"stride", "2"}, {"dp", "8"}}, {8, 8}),
              "--dp 8 with --stride 2: 8 ranks do not divide into groups of 16");
}

TEST(DpParams, WrongValuesAreRefusedByName) {
    EXPECT_EQ(dp.refusal({{"form", "reduce_scatter"}}, {8, 8}),
              "--form reduce_scatter: --scheme ddp only adds with allreduce; use megatron, zero1 or zero2");
    EXPECT_EQ(dp.refusal({{"scheme", "zero1"}, {"gather-elements", "1"}}, {8, 8}),
              "--gather-elements 1: cuts the parameters into 162322944 allgathers; the most is 1048576");
    EXPECT_NE(dp.refusal({{"model", "gpt-5"}}, {8, 8}).find("--model 'gpt-5': expected resnet-50"), std::string::npos);
    EXPECT_EQ(dp.refusal({{"quantize", "mxfp8"}}, {8, 8}),
              "--quantize fp8:32:e8m0: these gradients are reduced by allreduce and no parameters are gathered; use "
              "--scheme zero1, zero2, zero3 or fsdp, or megatron with --form reduce_scatter");
    EXPECT_EQ(dp.refusal({{"scheme", "fsdp"}, {"quantize", "mxfp8"}, {"in-flight", "5"}}, {8, 8}),
              "--in-flight 5 with --quantize: at most 4, because a packed operation has twice the buffers");
    EXPECT_EQ(dp.refusal({{"in-flight", "9"}}, {8, 8}), "--in-flight '9': expected a whole number from 1 to 8");
}

TEST(DpParams, MembersOfAGroupAreAStrideApart) {
    EXPECT_EQ(dp.plan("", {{"stride", "2"}}, {8, 8}, 3).groups.at(0).members, (std::vector<Rank>{1, 3, 5, 7}));
    EXPECT_EQ(dp.plan("", {{"stride", "2"}, {"dp", "2"}}, {8, 8}, 4).groups.at(0).members, (std::vector<Rank>{4, 6}));
}

}  // namespace
}  // namespace dlmb::dp_gradients

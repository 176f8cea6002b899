// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/validate.hpp"
#include "tests/unit/dp_gradients/pattern_fixture.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

namespace dlmb::dp_gradients {
namespace {

using Labels = std::vector<std::string>;

Parameters flat(Parameters const& more) {
    Parameters parameters{{"model", "flat"}, {"parameters", "1000"}};
    parameters.insert(more.begin(), more.end());
    return parameters;
}

TEST(DpPlan, StepsOfEachScheme) {
    auto const of = [](char const* scheme, char const* form) {
        return labels(plan_of("", flat({{"scheme", scheme}, {"form", form}}), {4, 4}));
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
    EXPECT_EQ(labels(plan_of("", flat({{"scheme", "fsdp"}, {"reshard", "off"}}), {4, 4})),
              (Labels{"parameters.forward.1", "gradients.1"}));
}

// 1000 elements on 3 ranks: 1002, whole elements of bf16 for each.
TEST(DpPlan, WhatIsScatteredOrGatheredIsPaddedToWholeElementsPerRank) {
    WorldShape const world{3, 3};
    Plan const zero = plan_of("", flat({{"scheme", "zero1"}, {"form", "reduce_scatter"}}), world);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(zero, ""), repeated(1, 2'004));
    EXPECT_EQ(sizes<OperationKind::all_gather>(zero, ""), repeated(1, 2'004));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan_of("", flat({}), world), ""), repeated(1, 2'000));
    // Megatron-LM: to a multiple of lcm(3, 128) = 384.
    Plan const megatron = plan_of("", flat({{"scheme", "megatron"}, {"form", "reduce_scatter"}}), world);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(megatron, ""), repeated(1, 2'304));
}

TEST(DpPlan, SchemesReduceOncePerStepOrOncePerMicroBatch) {
    auto const reductions = [](char const* scheme) {
        Plan const plan = plan_of("", flat({{"scheme", scheme}, {"microbatches", "3"}}), {4, 4});
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
    Plan const plan = plan_of("llama-7b-zero3-prefetch", {}, {8, 8});
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
    Plan const plan = plan_of("resnet-50", two, {4, 4});
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
        auto const problems = validate(build_all(*make_pattern("", parameters, world), world, {}));
        EXPECT_TRUE(problems.empty()) << scheme << ": " << problems.at(0).text;
    }
}

TEST(DpPlan, OnlyWhatExceedsTheMemoryLimitSharesBuffers) {
    EXPECT_TRUE(fully_checked(plan_of("resnet-50", {}, {4, 4})));
    EXPECT_FALSE(fully_checked(plan_of("resnet-50", {{"memory-limit", "64M"}}, {4, 4})));
}

TEST(DpPlan, GatheredParametersArePackedInEveryScheme) {
    WorldShape const world{4, 4};
    for (char const* scheme : {"megatron", "zero1", "zero2", "zero3", "fsdp"}) {
        Parameters const parameters{{"model", "flat"},          {"parameters", "1003"},        {"scheme", scheme},
                                    {"form", "reduce_scatter"}, {"quantize", "int8:128:fp32"}, {"in-place", "on"}};
        Plan const plan = plan_of("", parameters, world);
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
        auto const problems = validate(build_all(*make_pattern("", parameters, world), world, {}));
        EXPECT_TRUE(problems.empty()) << scheme << ": " << problems.at(0).text;
    }
}

}  // namespace
}  // namespace dlmb::dp_gradients

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/sequence_parallel.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dlmb::sequence_parallel {
namespace {

constexpr TypeUnderTest sp{type};

using Labels = std::vector<std::string>;

TEST(SequencePlan, UlyssesExchangesAroundAttention) {
    EXPECT_EQ(labels(sp.plan("", {}, {4, 4})), (Labels{"forward.q", "forward.k", "forward.v", "forward.out",
                                                       "backward.out", "backward.v", "backward.k", "backward.q"}));
    EXPECT_EQ(labels(sp.plan("", {{"layers", "2"}, {"direction", "forward"}}, {4, 4})),
              (Labels{"forward.q.0", "forward.k.0", "forward.v.0", "forward.out.0", "forward.q.1", "forward.k.1",
                      "forward.v.1", "forward.out.1"}));
}

Parameters ring(Parameters const& more = {}) {
    Parameters parameters{{"kind", "ring"}, {"sequence", "4096"}};
    parameters.insert(more.begin(), more.end());
    return parameters;
}

std::map<int, int> sends_by_channel(Plan const& plan) {
    std::map<int, int> sends;
    for (Step const& step : plan.steps) {
        if (auto const* send = std::get_if<Send>(&step.operation)) {
            ++sends[send->channel];
        }
    }
    return sends;
}

// Two messages a step: 2 (P - 1) forward; backward the same for k, v and 2 P for dk, dv on channel 1.
TEST(SequencePlan, RingStepsPerChannel) {
    EXPECT_EQ(sends_by_channel(sp.plan("", ring({{"direction", "forward"}}), {4, 4})), (std::map<int, int>{{0, 6}}));
    EXPECT_EQ(sends_by_channel(sp.plan("", ring({{"direction", "backward"}}), {4, 4})),
              (std::map<int, int>{{0, 6}, {1, 8}}));
    EXPECT_TRUE(sp.plan("", ring(), {1, 1}).steps.empty());
}

TEST(SequencePlan, ARingSendsToTheNextRankAndReceivesFromTheOneBefore) {
    Plan const plan = sp.plan("", ring({{"sp", "4"}}), {8, 8}, 7);
    EXPECT_EQ(plan.groups.at(0).members, (std::vector<Rank>{4, 5, 6, 7}));
    for (Step const& step : plan.steps) {
        if (auto const* send = std::get_if<Send>(&step.operation)) {
            EXPECT_EQ(send->to.peer, 0);
        } else {
            EXPECT_EQ(std::get<Recv>(step.operation).from.peer, 2);
        }
    }
}

TEST(SequencePlan, EveryBatchIsTwoSendsAndTwoReceives) {
    std::map<int, std::pair<int, int>> batches;
    for (Step const& step : sp.plan("", ring({{"layers", "2"}}), {4, 4}).steps) {
        if (auto const* send = std::get_if<Send>(&step.operation)) {
            ++batches[send->batch].first;
        } else {
            ++batches[std::get<Recv>(step.operation).batch].second;
        }
    }
    EXPECT_EQ(batches.size(), 2U * (3U + 3U + 4U));
    for (auto const& [batch, messages] : batches) {
        EXPECT_EQ(messages, (std::pair{2, 2})) << batch;
    }
}

TEST(SequencePlan, ComputeOverlapsTheTransferOfTheNextBlock) {
    Plan const plan = sp.plan("", ring({{"compute-ns", "1000"}, {"direction", "forward"}}), {4, 4});
    auto const first = [&](std::string_view label, std::size_t from) {
        auto const found = std::find_if(plan.steps.begin() + static_cast<std::ptrdiff_t>(from), plan.steps.end(),
                                        [&](Step const& step) { return step.label == label; });
        return static_cast<StepId>(found - plan.steps.begin());
    };
    StepId const compute = first("forward.compute", 0);
    EXPECT_TRUE(plan.steps.at(compute).after.empty());  // beside the first transfer
    StepId const second_transfer = first("forward.kv", compute);
    EXPECT_EQ(plan.steps.at(second_transfer).after, (std::vector<StepId>{0, 1, 2, 3, compute}));
}

// Three ranks: kv, dkv, kv, dkv, dkv. The last sum has no transfer of keys beside it.
TEST(SequencePlan, SumsOfGradientsWaitForTheirBlockAndForTheSumSoFar) {
    Plan const plan = sp.plan("", {{"kind", "ring"}, {"sequence", "3072"}, {"direction", "backward"}}, {3, 3});
    ASSERT_EQ(plan.steps.size(), 20U);
    EXPECT_EQ(plan.steps[4].label, "backward.dkv");
    EXPECT_EQ(plan.steps[4].after, (std::vector<StepId>{0, 1, 2, 3}));
    EXPECT_EQ(plan.steps[12].label, "backward.dkv");
    EXPECT_EQ(plan.steps[12].after, (std::vector<StepId>{8, 9, 10, 11, 4, 5, 6, 7}));
    EXPECT_EQ(plan.steps[16].label, "backward.dkv");
    EXPECT_EQ(plan.steps[16].after, (std::vector<StepId>{8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}));
}

TEST(SequencePlan, HoldsTogetherOverLayersGroupsAndSmallMemory) {
    WorldShape const world{6, 3};
    for (char const* kind : {"ring", "ulysses"}) {
        for (char const* size : {"1", "2", "3", "6"}) {
            Parameters const parameters{{"kind", kind},  {"sp", size},           {"sequence", "6144"}, {"heads", "12"},
                                        {"layers", "3"}, {"memory-limit", "1M"}, {"compute-ns", "500"}};
            EXPECT_EQ(problem_of(*sp.make("", parameters, world), world), "") << kind << " " << size;
        }
    }
}

std::vector<RowRun> const& moved_rows(Plan const& plan, std::string_view label) {
    return std::get<Compute>(steps_with(plan, label).at(0)->operation).rearrangement->runs;
}

// Two sequences of 4 tokens, 2 ranks, 4 heads of 4 bf16: rows of two heads, 16 bytes.
TEST(SequencePack, UlyssesTransposesBetweenTokensAndHeads) {
    Parameters const parameters{{"batch", "2"}, {"sequence", "4"}, {"heads", "4"}, {"head-dim", "4"}, {"pack", "host"}};
    Plan const plan = sp.plan("", parameters, {2, 2});
    EXPECT_EQ(problem_of(*sp.make("", parameters, {2, 2}), {2, 2}), "");
    EXPECT_EQ(labels(plan).size(), 8U * 3);
    // Heads of rank 0 are every second row; each block is 4 rows of 16 bytes.
    EXPECT_EQ(moved_rows(plan, "pack.forward.q"), (std::vector<RowRun>{{4, 0, 0, 32, 16}, {4, 16, 64, 32, 16}}));
    // From rank 0 tokens 0 and 1 of either sequence, from rank 1 tokens 2 and 3; behind a guard of 64 bytes.
    EXPECT_EQ(
        moved_rows(plan, "unpack.forward.q"),
        (std::vector<RowRun>{{2, 64, 64, 16, 16}, {2, 96, 128, 16, 16}, {2, 128, 96, 16, 16}, {2, 160, 160, 16, 16}}));
    EXPECT_EQ(moved_rows(plan, "pack.forward.out").size(), 4U);
    EXPECT_EQ(moved_rows(plan, "unpack.backward.v").size(), 2U);
}

TEST(SequencePack, OfOneSequenceNothingMovesOnTheSideOfTheHeads) {
    for (int const ranks : {1, 7}) {
        Parameters const parameters{{"heads", "14"}, {"sequence", "70"}, {"head-dim", "4"}, {"pack", "cuda"}};
        WorldShape const world{ranks, ranks};
        EXPECT_EQ(problem_of(*sp.make("", parameters, world), world), "");
        Labels const found = labels(sp.plan("", parameters, world));
        EXPECT_EQ(Labels(found.begin(), found.begin() + 2), (Labels{"pack.forward.q", "forward.q"}));
        EXPECT_EQ(std::count(found.begin(), found.end(), "unpack.forward.q"), 0);
        EXPECT_EQ(std::count(found.begin(), found.end(), "unpack.forward.out"), 1);
    }
}

TEST(SequencePack, WhatCannotBeMovedIsRefused) {
    EXPECT_EQ(sp.refusal({{"kind", "ring"}, {"pack", "host"}}, {2, 2}),
              "--pack host: --kind ring sends its blocks as they lie");
    EXPECT_EQ(sp.refusal({{"heads", "2"}, {"head-dim", "2"}, {"pack", "host"}}, {2, 2}),
              "--pack host: rows of 4 B (--heads 2 over 2 ranks, --head-dim 2) are not a multiple of 8 B");
}

TEST(SequenceParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(sp.refusal({{"sp", "3"}}, {8, 8}), "--sp 3: does not divide 8 ranks");
    EXPECT_EQ(sp.refusal({{"sequence", "100"}}, {8, 8}),
              "--sequence 100: does not divide over 8 sequence-parallel ranks");
    EXPECT_EQ(
        sp.refusal({{"heads", "12"}}, {8, 8}),
        "--kind ulysses: --heads 12 do not divide over 8 sequence-parallel ranks; uneven heads are not supported");
    EXPECT_EQ(sp.refusal({{"kv-heads", "8"}}, {16, 8}),
              "--kind ulysses: --kv-heads 8 do not divide over 16 sequence-parallel ranks; uneven heads are not "
              "supported");
    EXPECT_EQ(sp.refusal({{"kv-heads", "5"}}, {1, 1}), "--kv-heads 5: does not divide --heads 32");
}

TEST(SequenceParams, ARingNeedsNoHeadsPerRank) {
    EXPECT_EQ(sp.refusal({{"kind", "ring"}, {"heads", "12"}}, {8, 8}), "accepted");
}

// One token and one head of 8 bf16 are 16 bytes for each peer: blocks of any size are adjacent.
TEST(SequenceParams, ExchangesAreUniformUnlessTheyMoveRows) {
    Parameters parameters{{"sequence", "8"}, {"heads", "8"}, {"head-dim", "8"}};
    auto const operation = [&] { return sp.make("", parameters, {8, 8})->operations().at(0); };
    EXPECT_EQ(operation(), (OperationUse{OperationKind::exchange, true}));
    Plan const plan = sp.plan("", parameters, {8, 8});
    EXPECT_TRUE(packed(std::get<Exchange>(plan.steps.at(0).operation).recv, 8));
    parameters["pack"] = "fused";
    EXPECT_EQ(operation(), (OperationUse{OperationKind::exchange, false, true}));
}

}  // namespace
}  // namespace dlmb::sequence_parallel

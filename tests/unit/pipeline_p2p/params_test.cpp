// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/params.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::pipeline_p2p {
namespace {

std::string refusal(Parameters const& overrides, int ranks) {
    return dlmb::refusal(type(), "", overrides, {ranks, ranks});
}

TEST(PipelineParams, WhatIsLeftOfTheWorldIsThePipelineAndThenData) {
    Params const all = read_params(resolve(type(), "", {{"tp", "2"}, {"cp", "2"}}), {24, 8});
    EXPECT_EQ(all.shape.ranks, 6);
    EXPECT_EQ(all.dp, 1);
    Params const some = read_params(resolve(type(), "", {{"tp", "2"}, {"cp", "2"}, {"pp", "3"}}), {24, 8});
    EXPECT_EQ(some.dp, 2);
    EXPECT_EQ(some.stage_width(), 8);
}

TEST(PipelineParams, RefusalsNameTheNumbersThatDoNotDivide) {
    EXPECT_EQ(refusal({{"tp", "3"}}, 8), "--tp 3 --cp 1: 3 ranks do not divide 8 ranks");
    EXPECT_EQ(refusal({{"pp", "3"}, {"tp", "2"}}, 8),
              "--pp 3: does not divide the 4 ranks that --tp 2 --cp 1 leave of 8");
    EXPECT_EQ(refusal({{"schedule", "chimera"}}, 3),
              "--pipe-pairs 1: 2 pipes do not divide the 3 pipeline ranks of --schedule chimera");
    EXPECT_EQ(refusal({{"schedule", "dualpipe"}}, 3),
              "--pp 3: --schedule dualpipe needs an even number of pipeline ranks");
    EXPECT_EQ(refusal({{"schedule", "dualpipe"}, {"microbatches", "6"}}, 4),
              "--microbatches 6: --schedule dualpipe needs an even number, at least 8 (twice --pp 4)");
    EXPECT_EQ(refusal({{"schedule", "interleaved"}, {"microbatches", "9"}}, 4),
              "--microbatches 9: groups of 4 leave 1, fewer than the 4 pipeline ranks of --schedule interleaved");
    EXPECT_EQ(refusal({{"schedule", "interleaved"}, {"microbatch-group", "2"}}, 4),
              "--microbatch-group 2: below the 4 pipeline ranks");
    EXPECT_EQ(refusal({{"sequence", "100"}, {"tp", "8"}, {"tp-split", "sequence_parallel"}}, 8),
              "--sequence 100: not a multiple of 8 parts (--cp 1 times --tp 8)");
    EXPECT_EQ(refusal({{"sequence", "1"}, {"hidden", "3"}, {"tp", "2"}, {"tp-split", "scatter_gather"}}, 2),
              "--tp 2: does not divide the 3 values of a tensor (--tp-split scatter_gather)");
    EXPECT_EQ(refusal({{"vocabulary", "51201"}, {"tp", "2"}}, 2), "--vocabulary 51201: not a multiple of --tp 2");
}

TEST(PipelineParams, RefusalsOfWhatDoesNotGoTogether) {
    EXPECT_EQ(refusal({{"attention-mask", "on"}}, 2), "--attention-mask on: only --mode meta_data sends it");
    EXPECT_EQ(refusal({{"schedule", "chimera"}, {"loss", "on"}}, 2),
              "--loss on: --schedule chimera ends on several ranks; choose one with one pipe");
    EXPECT_EQ(refusal({{"gradient-bytes", "4"}}, 2), "--gradient-bytes 4: only --schedule chimera sums gradients");
    EXPECT_EQ(refusal({{"weight-us", "9"}, {"backward-us", "8"}}, 2),
              "--weight-us 9: above --backward-us 8, of which it is a part");
    EXPECT_EQ(refusal({{"sequence", "4194304"}, {"hidden", "16777216"}}, 2),
              "--micro-batch-size 1 --sequence 4194304 --hidden 16777216: one tensor is above 2^44 B");
    Parameters const shapes{{"schedule", "interleaved"}, {"mode", "handshake_data"}};
    EXPECT_EQ(refusal(with(shapes, {{"microbatches", "4"}}), 4),
              "--microbatches 4: too few for --mode handshake_data with --schedule interleaved, which would hang; 6 or "
              "more do not");
    EXPECT_EQ(refusal(with(shapes, {{"microbatches", "8"}}), 4), "accepted");
}

TEST(PipelineParams, GroupsTakeTensorRanksFastestAndThePipelineSlowest) {
    auto const plans = plans_of({{"tp", "2"}, {"pp", "2"}, {"loss", "on"}, {"vocabulary", "64"}}, 8);
    Plan const& plan = plans.at(5);
    auto const group = [&](std::string_view label) {
        return std::visit(
            [&](auto const& operation) -> std::vector<Rank> {
                if constexpr (requires { operation.group; }) {
                    return plan.groups[operation.group].members;
                }
                return {};
            },
            steps_with(plan, label).at(0)->operation);
    };
    EXPECT_EQ(group("forward"), (std::vector<Rank>{1, 5}));
    EXPECT_EQ(group("tied_embedding"), (std::vector<Rank>{1, 5}));
    EXPECT_EQ(group("meta.loss_mean"), (std::vector<Rank>{5, 7}));
    EXPECT_EQ(group("meta.loss"), (std::vector<Rank>{1, 5}));
}

// Stage 1 of four: rank 1 going down, rank 2 going up, each with two data-parallel copies.
TEST(PipelineParams, ChimeraSumsTheGradientsOfAllReplicas) {
    auto const plans = plans_of({{"schedule", "chimera"}, {"pp", "4"}, {"gradient-bytes", "64"}}, 8);
    Step const& step = *steps_with(plans.at(2), "gradient_sync.1").at(0);
    EXPECT_EQ(plans.at(2).groups[std::get<Collective>(step.operation).group].members, (std::vector<Rank>{2, 3, 4, 5}));
    EXPECT_EQ(problem_of(plans), "");
}

}  // namespace
}  // namespace dlmb::pipeline_p2p

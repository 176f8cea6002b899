// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published message sizes of published models.
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

#include <map>

namespace dlmb::pipeline_p2p {
namespace {

Bytes sent(std::string_view preset, std::string_view label, Parameters const& overrides, int ranks) {
    WorldShape const world{ranks, 8};
    Plan const plan = build_one(*make_pipeline(with(overrides, {{"microbatches", "4"}}), world, preset), 0, {});
    return std::get<Send>(steps_with(plan, label).at(0)->operation).to.bytes;
}

// b * s * h * e; sequence parallelism divides by tp (Megatron-LM get_tensor_shapes).
TEST(PipelineSizes, ActivationsInBf16) {
    EXPECT_EQ(sent("llama-70b", "forward", {}, 2), 67'108'864U);  // LLaMA-65B has the same hidden size
    EXPECT_EQ(sent("llama-70b", "forward", {{"sequence", "2048"}}, 2), 33'554'432U);
    EXPECT_EQ(sent("gpt3-175b", "forward.0", {}, 2), 50'331'648U);
    EXPECT_EQ(sent("gpt3-175b", "forward.0", {{"tp", "8"}}, 16), 6'291'456U);
    EXPECT_EQ(sent("llama3-405b", "forward.0", {{"tp", "8"}}, 16), 33'554'432U);
    EXPECT_EQ(sent("llama3-405b", "forward.0", {{"tp", "8"}, {"cp", "2"}}, 32), 16'777'216U);
    EXPECT_EQ(sent("bert-large-chimera", "forward.0", {}, 8), 16'777'216U);
    EXPECT_EQ(sent("deepseek-v3-dualpipe", "forward.0", {}, 2), Bytes{4096} * 7168 * 2);
}

// GPT-NeoX, micro-batch 4, sequence 2048, fp16; the mask of 2048 * 2048 fp16 goes forward only.
TEST(PipelineSizes, GptNeoX) {
    std::map<std::string_view, Bytes> const published{
        {"gpt-19m", 8'388'608}, {"gpt-125m", 12'582'912}, {"gpt-1.3b", 33'554'432}, {"gpt-13b", 83'886'080}};
    for (auto const& [preset, bytes] : published) {
        EXPECT_EQ(sent(preset, "forward", {}, 2), bytes) << preset;
        EXPECT_EQ(sent(preset, "forward.mask", {}, 2), 8'388'608U) << preset;
    }
    EXPECT_EQ(sent("gpt-13b", "forward", {{"tp", "2"}}, 4), 41'943'040U);
}

// DeepSpeed PartitionedTensor.to_meta, (1 + 3 + 2 + tp + 1) int64; none without tensor parallelism.
TEST(PipelineSizes, PartitionMetaOfDeepSpeed) {
    EXPECT_EQ(sent("gpt-19m", "meta.forward", {{"tp", "2"}}, 4), 72U);
    EXPECT_EQ(sent("gpt-19m", "meta.forward", {{"tp", "4"}}, 8), 88U);
    EXPECT_EQ(sent("gpt-19m", "meta.forward", {{"tp", "8"}}, 16), 120U);
    EXPECT_TRUE(steps_with(plans_of({}, 2, "gpt-19m").at(0), "meta.forward").empty());
    EXPECT_EQ(sent("gpt-19m", "meta.forward", {{"dynamic-shape", "on"}}, 2), 1024U);
}

TEST(PipelineSizes, ShapesOfVariableSequencesAre24BytesEachWay) {
    EXPECT_EQ(sent("llama-7b", "meta.forward", {{"mode", "handshake_data"}}, 2), 24U);
    Plan const last = plans_of({{"mode", "handshake_data"}}, 2, "llama-7b").at(1);
    EXPECT_EQ(std::get<Send>(steps_with(last, "meta.backward").at(0)->operation).to.bytes, 24U);
}

// The receivers' gather is of the whole tensor, forward and backward.
TEST(PipelineSizes, ScatterGather) {
    Parameters const split{{"tp", "2"}, {"tp-split", "scatter_gather"}};
    EXPECT_EQ(sent("llama-70b", "forward", split, 4), 33'554'432U);
    Plan const last = plans_of(split, 4, "llama-70b").at(2);
    EXPECT_EQ(std::get<Collective>(steps_with(last, "forward.gather").at(0)->operation).bytes, 67'108'864U);
}

// V / t * h fp32 values with V 51200, h 12288, t 8.
TEST(PipelineSizes, TiedEmbeddingOfGpt3) {
    WorldShape const world{16, 8};
    Plan const plan = build_one(*make_pipeline({{"tp", "8"}}, world, "gpt3-175b"), 0, {});
    EXPECT_EQ(std::get<Collective>(steps_with(plan, "tied_embedding").at(0)->operation).bytes, 314'572'800U);
}

TEST(PipelineSizes, LossIsTwoScalarsFromTheLastStage) {
    Plan const plan = plans_of({}, 4, "gpt-19m").at(0);
    auto const& loss = std::get<Collective>(steps_with(plan, "meta.loss").at(0)->operation);
    EXPECT_EQ(loss.bytes, 8U);
    EXPECT_EQ(loss.root, 3);
}

}  // namespace
}  // namespace dlmb::pipeline_p2p

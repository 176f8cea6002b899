// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/reshard.hpp"
#include "patterns/reshard/weights.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

namespace dlmb::reshard {
namespace {

std::string refused(Parameters const& overrides, int ranks = 8) {
    return refusal(type(), "", overrides, {ranks, ranks});
}

TEST(ReshardParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(refused({{"tp", "3"}}), "--tp 3 --pp 1 --ep 1: together do not divide the 8 ranks that hold the weights");
    EXPECT_EQ(refused({{"to-pp", "3"}, {"to-ep", "2"}, {"senders", "2"}}),
              "accepted");  // 6 ranks receive
    EXPECT_EQ(refused({{"to-pp", "3"}, {"to-ep", "4"}, {"senders", "2"}}),
              "--to-tp 1 --to-pp 3 --to-ep 4: together do not divide the 6 ranks that receive them");
    EXPECT_EQ(refused({{"senders", "8"}}), "--senders 8: leaves none of 8 ranks to receive");
    EXPECT_EQ(refused({{"senders", "1"}}, 1), "--senders 1: leaves none of 1 ranks to receive");
    EXPECT_EQ(
        refused({{"tp", "2147483647"}, {"pp", "2147483647"}, {"ep", "2147483647"}}),
        "--tp 2147483647 --pp 2147483647 --ep 2147483647: together do not divide the 8 ranks that hold the weights");
}

TEST(ReshardParams, ValuesOutOfRangeSayWhatIsInRange) {
    EXPECT_EQ(refused({{"wire", "rdma"}}), "--wire 'rdma': expected p2p, striped, bucketed, broadcast");
    EXPECT_EQ(refused({{"kv-heads", "9"}}), "--kv-heads '9': expected a whole number from 0 to 8");
    EXPECT_EQ(refused({{"dense-layers", "5"}}), "--dense-layers '5': expected a whole number from 0 to 4");
    EXPECT_EQ(refused({{"in-flight", "9"}, {"wire", "bucketed"}}),
              "--in-flight '9': expected a whole number from 1 to 8");
    EXPECT_EQ(refused({{"bucket", "1"}}), "--bucket '1': expected a size from 2 to 18446744073709551615 bytes");
    EXPECT_EQ(refused({{"bucket", "2"}, {"wire", "bucketed"}}),
              "--bucket 2: cuts the weights into 25170432 buckets; the most is 1048576");
    EXPECT_EQ(refused({{"hidden", "16777216"}, {"mlp", "16777216"}, {"experts", "0"}}),
              "the model has 3.38e+15 weights; the most is 2^46");
    // MLPs of 2^65 weights beside a few norms.
    EXPECT_EQ(refused({{"hidden", "16777216"},
                       {"layers", "65536"},
                       {"mlp", "16777216"},
                       {"gated", "off"},
                       {"head-dim", "0"},
                       {"vocabulary", "0"}}),
              "the model has 3.69e+19 weights; the most is 2^46");
}

std::uint64_t elements_of(ModelSizes const& model) {
    double sum = 0;
    for (WeightGroup const& group : weights_of(model)) {
        sum += group.elements();
    }
    return static_cast<std::uint64_t>(sum);
}

ModelSizes llama(std::uint64_t hidden, std::uint64_t layers, std::uint64_t heads, std::uint64_t mlp) {
    ModelSizes model;
    model.hidden = hidden;
    model.layers = layers;
    model.heads = heads;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.mlp = mlp;
    model.vocabulary = 128256;
    return model;
}

// The safetensors index of each model on Hugging Face, "total_parameters".
TEST(ReshardWeights, ModelsHaveThePublishedNumberOfParameters) {
    EXPECT_EQ(elements_of(llama(4096, 32, 32, 14336)), 8'030'261'248U);
    EXPECT_EQ(elements_of(llama(8192, 80, 64, 28672)), 70'553'706'496U);

    ModelSizes gpt2 = llama(768, 12, 12, 3072);
    gpt2.kv_heads = 12;
    gpt2.head_dim = 64;
    gpt2.gated = false;
    gpt2.vocabulary = 50257;
    gpt2.tied = true;
    // openai-community/gpt2 without 1024 learned positions and the biases: of 13 hidden in a layer, and one at the end.
    EXPECT_EQ(elements_of(gpt2), 124'439'808U - 1024U * 768U - 12U * 11U * 768U - 768U);

    ModelSizes qwen3 = llama(4096, 94, 64, 0);
    qwen3.kv_heads = 4;
    qwen3.qk_norm = true;
    qwen3.experts = 128;
    qwen3.expert_mlp = 1536;
    qwen3.vocabulary = 151936;
    EXPECT_EQ(elements_of(qwen3), 235'093'634'560U);  // Qwen/Qwen3-235B-A22B

    // deepseek-ai/DeepSeek-V3 without its MTP module, and without the 256 correction biases of 58 routers.
    ModelSizes deepseek = llama(7168, 61, 128, 18432);
    deepseek.dense_layers = 3;
    deepseek.q_lora = 1536;
    deepseek.kv_lora = 512;
    deepseek.rope_dim = 64;
    deepseek.experts = 256;
    deepseek.expert_mlp = 2048;
    deepseek.shared_experts = 1;
    deepseek.vocabulary = 129280;
    EXPECT_EQ(elements_of(deepseek), 671'026'419'200U - 58U * 256U);
}

}  // namespace
}  // namespace dlmb::reshard

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published parameter counts of published models.
#include "patterns/trained_model.hpp"

#include <gtest/gtest.h>

#include <map>

namespace dlmb::dp_gradients {
namespace {

// torchvision resnet50: 25,557,032 parameters in 161 tensors; 53 batch norms with 26,560 channels, two statistics each.
TEST(DpModels, ResNet50) {
    TrainedModel const model = model_named("resnet-50");
    EXPECT_EQ(model.elements(), 25'557'032U);
    EXPECT_EQ(model.tensors.size(), 161U);
    EXPECT_EQ(model.running_statistics, 53'120U);
    EXPECT_EQ(model.norm_counters, 53U);
}

// GPT-NeoX: L * (12 h^2 + 13 h) + 2 h + 2 V h with V = 50304.
TEST(DpModels, GptNeoX) {
    std::map<std::string_view, std::uint64_t> const published{{"gpt-19m", 70'426'624},
                                                              {"gpt-125m", 162'322'944},
                                                              {"gpt-350m", 405'334'016},
                                                              {"gpt-1.3b", 1'414'647'808},
                                                              {"gpt-13b", 13'100'697'600}};
    for (auto const& [name, elements] : published) {
        EXPECT_EQ(model_named(name).elements(), elements) << name;
    }
}

std::uint64_t elements_of_layers(std::string_view name) {
    std::uint64_t sum = 0;
    for (ParameterTensor const& tensor : model_named(name).tensors) {
        sum += tensor.unit > 0 ? tensor.elements : 0;
    }
    return sum;
}

// The names count parameters without embedding and head.
TEST(DpModels, GptNeoXLayers) {
    EXPECT_EQ(elements_of_layers("gpt-19m"), 18'914'304U);
    EXPECT_EQ(elements_of_layers("gpt-125m"), 85'054'464U);
    EXPECT_EQ(elements_of_layers("gpt-350m"), 302'309'376U);
    EXPECT_EQ(elements_of_layers("gpt-1.3b"), 1'208'598'528U);
    EXPECT_EQ(elements_of_layers("gpt-13b"), 12'585'574'400U);
}

// AICB's DeepSpeed workloads (7B, 13B: V 32000); Llama 3 (V 128256, 8 key-value heads of 128).
TEST(DpModels, Llama) {
    EXPECT_EQ(model_named("llama-7b").elements(), 6'738'415'616U);
    EXPECT_EQ(model_named("llama-7b").tensors.size(), 291U);
    EXPECT_EQ(model_named("llama-13b").elements(), 13'015'864'320U);
    EXPECT_EQ(model_named("llama3-8b").elements(), 8'030'261'248U);
    EXPECT_EQ(model_named("llama3-70b").elements(), 70'553'706'496U);
    EXPECT_EQ(elements_of_layers("llama3-8b"), 32U * std::uint64_t{218'112'000});
    EXPECT_EQ(elements_of_layers("llama-70b"), 80U * std::uint64_t{855'654'400});
}

TEST(DpModels, EveryNameIsAModel) {
    for (std::string_view const name : model_names()) {
        EXPECT_GT(model_named(name).elements(), 0U) << name;
    }
}

}  // namespace
}  // namespace dlmb::dp_gradients

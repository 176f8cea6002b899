// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published parameter counts of published models, and traffic of data-parallel training.
#include "common/formats/plan/traffic.hpp"
#include "patterns/dp_gradients/dp_gradients.hpp"
#include "patterns/trained_model.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace dlmb::dp_gradients {
namespace {

constexpr TypeUnderTest dp{type};

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

constexpr Bytes fp32 = 4;
constexpr Bytes int64 = 8;

Bytes total(std::vector<Bytes> const& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
}

// PyTorch DistributedDataParallel, 1 MiB and 25 MiB, fp32; buffers: 53,120 floats and 53 int64.
TEST(DpTraffic, BucketsOfResNet50) {
    Plan const plan = dp.plan("resnet-50", {}, {8, 8});
    EXPECT_EQ(
        sizes<OperationKind::all_reduce>(plan, "gradients"),
        (std::vector<Bytes>{fp32 * 2'049'000, fp32 * 7'875'584, fp32 * 6'563'840, fp32 * 6'637'568, fp32 * 2'431'040}));
    EXPECT_EQ(total(sizes<OperationKind::all_reduce>(plan, "")), fp32 * 25'557'032);
    EXPECT_EQ(sizes<OperationKind::broadcast>(plan, "buffers"), (std::vector<Bytes>{fp32 * 53'120, int64 * 53}));
}

std::vector<Bytes> const llama_7b_buckets{1'971'396'608, 1'933'656'064, 1'990'270'976, 1'990'279'168,
                                          1'990'279'168, 1'990'279'168, 1'610'670'080};
constexpr Bytes llama_7b_bytes = Bytes{2} * 6'738'415'616;

// AICB, L7B-D1-C01: buckets of 1e9 elements, then one byte and six allgathers, on 128 ranks.
TEST(DpTraffic, Zero2OfLlama7b) {
    Plan const plan = dp.plan("llama-7b", {}, {128, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "gradients"), llama_7b_buckets);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "overflow"), repeated(1, 1));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters"), repeated(6, 2'246'138'624));
}

// AICB, L7B-D1-C02: every tensor gathered twice. 128 divides all of them.
TEST(DpTraffic, Zero3OfLlama7b) {
    Plan const plan = dp.plan("llama-7b-zero3", {}, {128, 8});
    std::vector<Bytes> const forward = sizes<OperationKind::all_gather>(plan, "parameters.forward");
    EXPECT_EQ(forward.size(), 291U);
    EXPECT_EQ(std::vector<Bytes>(forward.begin(), forward.begin() + 7),
              (std::vector<Bytes>{262'144'000, 8'192, 33'554'432, 33'554'432, 33'554'432, 33'554'432, 8'192}));
    EXPECT_EQ(forward.at(7), 90'177'536U);
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.backward").size(), 291U);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients"), llama_7b_buckets);
}

// What DistributedDataParallel of megatron-core 0.12 made of a LLaMA of this shape on 2 ranks (bf16).
TEST(DpTraffic, BucketsOfMegatron) {
    Plan const plan = dp.plan(
        "", {{"model", "transformer:layers=3:hidden=4096:mlp=11008:vocabulary=32000"}, {"scheme", "megatron"}}, {2, 2});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "gradients"),
              (std::vector<Bytes>{262'144'000, 90'185'728, 180'355'072, 100'671'488, 123'740'160, 180'355'072,
                                  100'671'488, 123'740'160, 180'355'072, 100'671'488, 295'706'624}));
    // Of a GPT of 4 layers on 8 ranks the second and the last one.
    std::vector<Bytes> const gpt = sizes<OperationKind::all_reduce>(
        dp.plan("", {{"model", "transformer:layers=4:hidden=2048"}, {"scheme", "megatron"}}, {8, 8}), "gradients");
    EXPECT_EQ(gpt.at(1), 92'323'840U);
    EXPECT_EQ(gpt.back(), 214'446'080U);
}

// torch.distributed.fsdp 2.6, BACKWARD_PRE: the next unit is gathered before gradients are scattered, which need the
// parameters of their own unit.
TEST(DpTraffic, FsdpGathersTheNextUnitBeforeItScattersGradients) {
    Plan const plan =
        dp.plan("", {{"model", "transformer:layers=3:hidden=64"}, {"scheme", "fsdp"}, {"in-flight", "2"}}, {2, 2});
    std::vector<std::string> const all = labels(plan);
    EXPECT_EQ(std::vector<std::string>(all.begin() + 4, all.end()),
              (std::vector<std::string>{"parameters.backward.3", "parameters.backward.2", "gradients.3",
                                        "parameters.backward.1", "gradients.2", "gradients.1", "gradients.0"}));
    EXPECT_EQ(plan.steps.at(8).after, (std::vector<StepId>{6, 5})) << "gradients.2 after those of 3 and its own gather";
}

// Wire bytes in units of the model: an allreduce counts twice its buffer, the other two once (times (P - 1) / P).
double volume(Plan const& plan, Bytes model_bytes) {
    Bytes const moved = 2 * total(sizes<OperationKind::all_reduce>(plan, "gradients")) +
                        total(sizes<OperationKind::all_gather>(plan, "")) +
                        total(sizes<OperationKind::reduce_scatter>(plan, ""));
    return static_cast<double>(moved) / static_cast<double>(model_bytes);
}

// ZeRO, arXiv 1910.02054, section 7: stages 1 and 2 as plain data parallelism, stage 3 one and a half times that.
// DeepSpeed's allreduce form of stages 1 and 2 moves as much as stage 3. Padding to whole elements is below 1e-6.
TEST(DpTraffic, VolumesOfTheZeroStages) {
    WorldShape const world{128, 8};
    for (char const* scheme : {"zero1", "zero2"}) {
        Parameters const scatter{{"scheme", scheme}, {"form", "reduce_scatter"}};
        EXPECT_NEAR(volume(dp.plan("llama-7b", scatter, world), llama_7b_bytes), 2, 1e-6) << scheme;
        EXPECT_NEAR(volume(dp.plan("llama-7b", {{"scheme", scheme}}, world), llama_7b_bytes), 3, 1e-6) << scheme;
    }
    EXPECT_EQ(volume(dp.plan("llama-7b", {{"scheme", "ddp"}}, world), llama_7b_bytes), 2);
    EXPECT_EQ(volume(dp.plan("llama-7b-zero3", {}, world), llama_7b_bytes), 3);
}

// Buckets of 5e8 elements: 19M and 125M are one message, 1.3B is three.
TEST(DpTraffic, MessagesOfGptNeoX) {
    EXPECT_EQ(sizes<OperationKind::all_reduce>(dp.plan("gpt-19m", {}, {8, 8}), "gradients"), repeated(1, 140'853'248));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(dp.plan("gpt-125m", {}, {8, 8}), "gradients"), repeated(1, 324'645'888));
    std::vector<Bytes> const large = sizes<OperationKind::all_reduce>(dp.plan("gpt-1.3b", {}, {8, 8}), "gradients");
    EXPECT_EQ(large.size(), 3U);
    EXPECT_EQ(total(large), 2'829'295'616U);
}

// One unit per layer: 218,112,000 parameters of Llama 3 8B in bf16; on 64 ranks 63/64 of it leave or arrive.
TEST(DpTraffic, FsdpUnitsOfLlama3) {
    Plan const plan = dp.plan("llama3-8b", {}, {64, 8});
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.backward"), repeated(32, 436'224'000));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.forward").size(), 33U);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients.7"), repeated(1, 436'224'000));
    auto const unit = std::find_if(plan.steps.begin(), plan.steps.end(),
                                   [](Step const& step) { return step.label == "gradients.7"; });
    ASSERT_NE(unit, plan.steps.end());
    EXPECT_EQ(traffic_of_step(plan, static_cast<StepId>(unit - plan.steps.begin())).out, 429'408'000U);
    EXPECT_EQ(total(sizes<OperationKind::all_gather>(plan, "parameters.forward")), 2U * std::uint64_t{8'030'261'248});
    Plan const large = dp.plan("llama3-70b", {}, {64, 8});
    EXPECT_EQ(sizes<OperationKind::all_gather>(large, "parameters.backward"), repeated(80, 1'711'308'800));
    EXPECT_EQ(total(sizes<OperationKind::reduce_scatter>(large, "gradients")), 2U * std::uint64_t{70'553'706'496});
}

// AICB, G13B-M1-C01: distributed optimizer over 16 ranks, gradients in fp32, parameters in bf16, one bucket.
TEST(DpTraffic, DistributedOptimizerOfGpt13b) {
    Plan const plan = dp.plan("gpt-13b-megatron", {}, {16, 8});
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients"), repeated(1, 6'422'958'080));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters"), repeated(1, 3'211'479'040));
}

}  // namespace
}  // namespace dlmb::dp_gradients

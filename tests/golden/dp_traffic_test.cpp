// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published traffic of data-parallel training.
#include "tests/unit/dp_gradients/pattern_fixture.hpp"
#include "tests/unit/tp_allreduce/collective_sizes.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::dp_gradients {
namespace {

constexpr Bytes fp32 = 4;
constexpr Bytes int64 = 8;

Bytes total(std::vector<Bytes> const& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
}

// PyTorch DistributedDataParallel, 1 MiB and 25 MiB, fp32; buffers: 53,120 floats and 53 int64.
TEST(DpTraffic, BucketsOfResNet50) {
    Plan const plan = plan_of("resnet-50", {}, {8, 8});
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
    Plan const plan = plan_of("llama-7b", {}, {128, 8});
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "gradients"), llama_7b_buckets);
    EXPECT_EQ(total(llama_7b_buckets), llama_7b_bytes);
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan, "overflow"), repeated(1, 1));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters"), repeated(6, 2'246'138'624));
}

// AICB, L7B-D1-C02: every tensor gathered twice. 128 divides all of them.
TEST(DpTraffic, Zero3OfLlama7b) {
    Plan const plan = plan_of("llama-7b-zero3", {}, {128, 8});
    std::vector<Bytes> const forward = sizes<OperationKind::all_gather>(plan, "parameters.forward");
    EXPECT_EQ(forward.size(), 291U);
    EXPECT_EQ(std::vector<Bytes>(forward.begin(), forward.begin() + 7),
              (std::vector<Bytes>{262'144'000, 8'192, 33'554'432, 33'554'432, 33'554'432, 33'554'432, 8'192}));
    EXPECT_EQ(forward.at(7), 90'177'536U);
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.backward").size(), 291U);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients"), llama_7b_buckets);
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
        EXPECT_NEAR(volume(plan_of("llama-7b", scatter, world), llama_7b_bytes), 2, 1e-6) << scheme;
        EXPECT_NEAR(volume(plan_of("llama-7b", {{"scheme", scheme}}, world), llama_7b_bytes), 3, 1e-6) << scheme;
    }
    EXPECT_EQ(volume(plan_of("llama-7b", {{"scheme", "ddp"}}, world), llama_7b_bytes), 2);
    EXPECT_EQ(volume(plan_of("llama-7b-zero3", {}, world), llama_7b_bytes), 3);
}

// Buckets of 5e8 elements: 19M and 125M are one message, 1.3B is three.
TEST(DpTraffic, MessagesOfGptNeoX) {
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan_of("gpt-19m", {}, {8, 8}), "gradients"), repeated(1, 140'853'248));
    EXPECT_EQ(sizes<OperationKind::all_reduce>(plan_of("gpt-125m", {}, {8, 8}), "gradients"), repeated(1, 324'645'888));
    std::vector<Bytes> const large = sizes<OperationKind::all_reduce>(plan_of("gpt-1.3b", {}, {8, 8}), "gradients");
    EXPECT_EQ(large.size(), 3U);
    EXPECT_EQ(total(large), 2'829'295'616U);
}

// One unit per layer: 218,112,000 parameters of Llama 3 8B in bf16; on 64 ranks 63/64 of it leave or arrive.
TEST(DpTraffic, FsdpUnitsOfLlama3) {
    Plan const plan = plan_of("llama3-8b", {}, {64, 8});
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.backward"), repeated(32, 436'224'000));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters.forward").size(), 33U);
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients.7"), repeated(1, 436'224'000));
    EXPECT_EQ(Bytes{436'224'000} / 64 * 63, 429'408'000U);
    EXPECT_EQ(total(sizes<OperationKind::all_gather>(plan, "parameters.forward")), 2U * std::uint64_t{8'030'261'248});
    Plan const large = plan_of("llama3-70b", {}, {64, 8});
    EXPECT_EQ(sizes<OperationKind::all_gather>(large, "parameters.backward"), repeated(80, 1'711'308'800));
    EXPECT_EQ(total(sizes<OperationKind::reduce_scatter>(large, "gradients")), 2U * std::uint64_t{70'553'706'496});
}

// AICB, G13B-M1-C01: distributed optimizer over 16 ranks, gradients in fp32, parameters in bf16, one bucket.
TEST(DpTraffic, DistributedOptimizerOfGpt13b) {
    Plan const plan = plan_of("gpt-13b-megatron", {}, {16, 8});
    EXPECT_EQ(sizes<OperationKind::reduce_scatter>(plan, "gradients"), repeated(1, 6'422'958'080));
    EXPECT_EQ(sizes<OperationKind::all_gather>(plan, "parameters"), repeated(1, 3'211'479'040));
}

}  // namespace
}  // namespace dlmb::dp_gradients

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The KV cache of published models: bytes of a token are 2 L nkv hd e, of a latent L (kv_lora + rope) e.
#include "tests/unit/kv_transfer/pattern_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::kv_transfer {
namespace {

constexpr Bytes tokens = 4096;

struct PublishedCache {
    std::string_view preset;
    Bytes token_bytes;
};

// Layers, KV heads and head dimension of the papers in presets.json.
constexpr PublishedCache caches[] = {
    {"llama-7b", Bytes{2} * 32 * 32 * 128 * 2},  // 524,288, MHA
    {"llama3.1-8b", 131'072},                    // 2 * 32 * 8 * 128 * 2
    {"mixtral-8x7b", 131'072},                   // the same
    {"llama-70b", 327'680},                      // 2 * 80 * 8 * 128 * 2
    {"llama3-405b", 516'096},                    // 2 * 126 * 8 * 128 * 2
    {"qwen3-235b", 192'512},                     // 2 * 94 * 4 * 128 * 2
    {"gpt-oss-120b", 73'728},                    // 2 * 36 * 8 * 64 * 2
    {"deepseek-v3", 70'272},                     // 61 * (512 + 64) * 2
    {"deepseek-v3-fp8", 35'136},                 // 61 * (512 + 64)
};

TEST(KvTraffic, BytesOfAPromptOfPublishedModels) {
    for (auto const& [preset, token_bytes] : caches) {
        for (char const* layout : {"paged", "contiguous"}) {
            Parameters const parameters{{"cache-layout", layout}};
            EXPECT_EQ(bytes_of(kv.plan(preset, parameters, {2, 2})).sent, tokens * token_bytes) << preset;
            EXPECT_EQ(bytes_of(kv.plan(preset, parameters, {2, 2}, 1)).received, tokens * token_bytes) << preset;
        }
    }
}

// Heads are divided: four decode ranks together receive the cache once. A latent is not: each receives all of it.
TEST(KvTraffic, TensorParallelRanksDivideHeadsAndRepeatLatents) {
    auto const received = [](std::string_view preset, Parameters const& parameters) {
        Bytes sum = 0;
        for (Rank rank = 4; rank < 8; ++rank) {
            sum += bytes_of(kv.plan(preset, parameters, {8, 8}, rank)).received;
        }
        return sum;
    };
    EXPECT_EQ(received("llama-70b", {}), 1'342'177'280U);
    EXPECT_EQ(received("deepseek-v3", {}), 4 * 287'834'112U);
    EXPECT_EQ(received("deepseek-v3", {{"latent-split", "on"}}), 287'834'112U);
}

Bytes first_message(std::string_view preset, Parameters const& parameters, WorldShape const& world, Rank me) {
    return std::get<Send>(kv.plan(preset, parameters, world, me).steps.at(0).operation).to.bytes;
}

// NIXL's kvbench, pages of 16 tokens: R1 in fp8 with tp 1 and pp 8 accesses 9,216 B by layer and 73,728 B by block (of
// ceil(61 / 8) = 8 layers); Llama-70B in fp8 with tp 8 and pp 1 327,680 B by block.
TEST(KvTraffic, AccessesOfKvbench) {
    Parameters const r1{{"prefill-tp", "1"}, {"prefill-pp", "8"}, {"decode-tp", "1"}};
    Parameters layer = r1;
    layer["granularity"] = "layer";
    EXPECT_EQ(first_message("deepseek-r1-kvbench", layer, {9, 9}, 0), 9'216U);
    EXPECT_EQ(first_message("deepseek-r1-kvbench", r1, {9, 9}, 7), 73'728U);
    EXPECT_EQ(first_message("llama-70b",
                            {{"element", "fp8"}, {"granularity", "block"}, {"prefill-tp", "8"}, {"decode-tp", "8"}},
                            {16, 8}, 0),
              327'680U);
}

}  // namespace
}  // namespace dlmb::kv_transfer

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans are the same bits on every compiler, optimisation level and machine: every number of these tests was made by
// this code once and must never change by accident. A wanted change of routing changes them, and says so in CHANGELOG.
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::moe_alltoall {
namespace {

/// FNV-1a over the sizes of all exchanges of one rank's plan.
std::uint64_t hash_of(Plan const& plan) {
    std::uint64_t hash = 0xcbf29ce484222325;
    auto const add = [&](std::uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) {
            hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 0x100000001b3;
        }
    };
    for (Step const& step : plan.steps) {
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            for (auto const* blocks : {&exchange->send, &exchange->recv}) {
                add(blocks->size());
                for (Block const& block : *blocks) {
                    add(static_cast<std::uint64_t>(block.peer));
                    add(block.bytes);
                }
            }
        }
    }
    return hash;
}

struct Golden {
    char const* preset;
    Parameters parameters;
    WorldShape world;
    std::uint64_t hash;
};

TEST(MoeHash, PlansAreTheSameBitsEverywhere) {
    for (Golden const& golden : {
             Golden{"deepseek-v3", {}, {8, 4}, 0x11713b850892f5bd},
             Golden{"deepseek-v3",
                    {{"wire", "node_dedup"}, {"skew", "power_law:1.01"}, {"tokens", "512"}},
                    {8, 4},
                    0x2ca8446455c96a45},
             Golden{"deepseek-v2",
                    {{"wire", "rank_dedup"}, {"skew", "zipf:0.8"}, {"tokens", "512"}},
                    {8, 4},
                    0x1005c5f80345e0e5},
             Golden{"mixtral-8x7b",
                    {{"skew", "balanced"}, {"wire", "rank_dedup"}, {"layers", "3"}},
                    {4, 4},
                    0xe900fe50f9428945},
             Golden{"gpt-oss-20b",
                    {{"skew", "lognormal:0.38+intra_host:4"}, {"direction", "both"}},
                    {6, 2},
                    0x7ebda1d5b16d1975},
             Golden{"mixtral-8x7b",
                    {{"skew", "zipf:1.2+rotating:2+burst:0.5:4"}, {"layers", "3"}, {"tokens", "512"}},
                    {4, 4},
                    0x851a743e29e452a5},
             Golden{"deepseek-v3",
                    {{"skew", "lognormal:0.38+drift:2.5+zero_expert:2"}, {"tokens", "512"}},
                    {8, 4},
                    0x43c5c5b2dcbc2865},
         }) {
        Plan const plan = build_one(*make_moe(golden.parameters, golden.world, golden.preset), 1, {20260101, 3});
        EXPECT_EQ(hash_of(plan), golden.hash) << golden.preset << std::hex << " 0x" << hash_of(plan);
    }
}

}  // namespace
}  // namespace dlmb::moe_alltoall

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/transports.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

#include <cstdlib>

namespace dlmb::ucx {
namespace {

constexpr Bytes kib = 1024;

/// UCX_TLS for as long as it lives, set while no other thread reads it.
class OnlyTcp {
public:
    OnlyTcp() { setenv("UCX_TLS", "self,tcp", 1); }
    OnlyTcp(OnlyTcp const&) = delete;
    OnlyTcp& operator=(OnlyTcp const&) = delete;
    ~OnlyTcp() { unsetenv("UCX_TLS"); }
};

TEST(MessageCut, TakesBlocksWithinItsBounds) {
    MessageCut const cut{100, 200, 30};
    EXPECT_EQ(cut.piece_of(99), 99U);
    EXPECT_EQ(cut.piece_of(100), 30U);
    EXPECT_EQ(cut.piece_of(200), 30U);
    EXPECT_EQ(cut.piece_of(201), 201U);
    EXPECT_EQ(MessageCut{}.piece_of(0), 0U);
    EXPECT_EQ(MessageCut{}.piece_of(1 << 20), 1U << 20);
}

TEST(MessageCut, PiecesOfABlockFollowEachOtherWithoutAGap) {
    PlanBuilder builder(0);
    builder.exchange(builder.group({{0, 1}}), std::vector<Bytes>{0, 250}, std::vector<Bytes>{0, 70}, "dispatch");
    Plan const plan = std::move(builder).finish();
    std::vector<std::byte> memory(1000);
    Buffers buffers{MemoryKind::host, std::vector<std::byte*>(plan.buffers.size(), memory.data())};
    std::vector<LoweredStep> const steps = lower(plan, buffers, std::vector<StepWay>(1), {nullptr}, {80, 300, 100});
    ASSERT_EQ(steps.size(), 1U);
    ASSERT_EQ(steps[0].sends.size(), 3U);
    EXPECT_EQ(steps[0].sends[0].bytes, 100U);
    EXPECT_EQ(steps[0].sends[1].data, steps[0].sends[0].data + 100);
    EXPECT_EQ(steps[0].sends[2].data, steps[0].sends[1].data + 100);
    EXPECT_EQ(steps[0].sends[2].bytes, 50U);
    ASSERT_EQ(steps[0].receives.size(), 1U);
    EXPECT_EQ(steps[0].receives[0].bytes, 70U);
}

TEST(MessageCut, IsForSocketsWhereRanksHaveCoresOfTheirOwn) {
    OnlyTcp const only_tcp;
    for (YieldPolicy const yield : {YieldPolicy::never, YieldPolicy::always}) {
        in_process::run_ranks(2, [yield](Bootstrap& bootstrap) {
            Transports transports({bootstrap, yield});
            EXPECT_EQ(transports.standard().cut().piece > 0, yield == YieldPolicy::never);
            EXPECT_EQ(transports.standard().settings().at("pieces") == "none", yield == YieldPolicy::always);
            EXPECT_EQ(transports.with({{"RNDV_THRESH", "4096"}}).value()->cut().piece, 0U);
        });
    }
}

TEST(MessageCut, WhatGoesInPiecesArrivesWhole) {
    OnlyTcp const only_tcp;
    for (char const* const method : {"linear", "pairwise"}) {
        in_process::run_ranks(3, [method](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap, MemoryKind::host, YieldPolicy::never);
            Plan const plan = rank.exchange(
                [](Rank from, Rank to) { return static_cast<Bytes>(1 + from * 2 + to * 3) * 400 * kib + 17; });
            Buffers const buffers = rank.bind(plan);
            auto const compiled = rank.backend().compile(plan, buffers, {method, {}}).value();
            for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
                rank.run(*compiled, plan, buffers, iteration);
            }
        });
    }
}

}  // namespace
}  // namespace dlmb::ucx

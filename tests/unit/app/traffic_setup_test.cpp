// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/traffic_setup.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/plan/validate.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include <gtest/gtest.h>

#include <mutex>

namespace dlmb::app {
namespace {

TEST(TrafficSetup, PlansBuiltFromExchangedNotesEqualThoseComputedForAllRanks) {
    PatternType const& type = moe_alltoall::type();
    for (char const* const wire : {"expanded", "rank_dedup", "node_dedup", "padded"}) {
        WorldShape const world{8, 4};
        auto const pattern = type.make(resolve(type, "deepseek-v2-lite", {{"tokens", "64"}, {"wire", wire}}), world);
        std::vector<Plan> exchanged(8);
        std::mutex mutex;
        in_process::run_ranks(8, 4, [&](Bootstrap& bootstrap) {
            Traffic traffic = prepare_traffic(bootstrap, *pattern, type.phases, 7, 2);
            std::lock_guard const lock(mutex);
            exchanged[static_cast<std::size_t>(bootstrap.rank())] = std::move(traffic.plans[1]);
        });
        std::vector<Plan> const computed = build_all(*pattern, world, Draw{7, 1});
        EXPECT_EQ(exchanged, computed) << wire;
        EXPECT_TRUE(validate(exchanged).empty()) << wire;
    }
}

TEST(TrafficSetup, SummariesAreEqualOnAllRanksAndCoverThePhases) {
    PatternType const& type = moe_alltoall::type();
    auto const pattern = type.make(resolve(type, "mixtral-8x7b", {{"tokens", "64"}, {"skew", "balanced"}}), {4, 4});
    in_process::run_ranks(4, [&](Bootstrap& bootstrap) {
        Traffic const traffic = prepare_traffic(bootstrap, *pattern, type.phases, 1, 3);
        ASSERT_EQ(traffic.phases.size(), 3U);
        // dispatch: 64 tokens x 2 experts x 8192 B per rank, a quarter stays; 4 ranks
        EXPECT_EQ(traffic.phases[1].label, "dispatch");
        EXPECT_EQ(traffic.phases[1].traffic.wire_bytes, 4U * 64U * 2U * 8192U * 3U / 4U);
        EXPECT_DOUBLE_EQ(traffic.phases[1].traffic.imbalance_send, 1.0);
    });
}

TEST(BufferSizes, AreTheLargestOverTheDraws) {
    Plan small;
    small.buffers = {{"a", 10}, {"b", 200}};
    Plan large;
    large.buffers = {{"a", 100}, {"b", 20}};
    std::vector<Plan> const plans{small, large};
    EXPECT_EQ(buffer_sizes(plans), (std::vector<Bytes>{100, 200}));
}

}  // namespace
}  // namespace dlmb::app

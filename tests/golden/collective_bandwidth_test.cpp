// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The factors between algorithm and bus bandwidth that nccl-tests prints (doc/PERFORMANCE.md), from plans alone.
#include "common/formats/plan/traffic.hpp"
#include "tests/unit/collective/collective_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::collective {
namespace {

constexpr double time_ns = 1000;

Bandwidth bandwidth_of(Parameters overrides, int ranks) {
    overrides.emplace("message-size", "1048576");
    std::vector<RankTraffic> traffic;
    for (Plan const& plan : plans_of(overrides, {ranks, ranks})) {
        traffic.push_back(traffic_of(plan));
    }
    return bandwidth(summarize(traffic), time_ns);
}

double factor(char const* operation, int ranks) {
    Bandwidth const rate = bandwidth_of({{"operation", operation}, {"element", "byte"}}, ranks);
    return rate.busbw_GBps / rate.algbw_GBps;
}

TEST(CollectiveBandwidth, HasTheFactorsOfNcclTests) {
    for (int const ranks : {2, 3, 4, 8, 64}) {
        double const n = ranks;
        // 2^20 B in n shares may end in a part of a byte, which is dropped.
        constexpr double one_byte = 1.0 / (1 << 20);
        EXPECT_NEAR(factor("allreduce", ranks), 2 * (n - 1) / n, one_byte) << ranks;
        EXPECT_NEAR(factor("reduce_scatter", ranks), (n - 1) / n, one_byte) << ranks;
        EXPECT_NEAR(factor("reduce_scatter_block", ranks), (n - 1) / n, one_byte) << ranks;
        EXPECT_DOUBLE_EQ(factor("reduce", ranks), 1) << ranks;
        for (char const* parts : {"allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv"}) {
            EXPECT_DOUBLE_EQ(factor(parts, ranks), (n - 1) / n) << parts << ' ' << ranks;
        }
        EXPECT_DOUBLE_EQ(factor("alltoall", ranks), (n - 1) / n) << ranks;
        EXPECT_DOUBLE_EQ(factor("alltoallv", ranks), (n - 1) / n) << ranks;  // balanced
        EXPECT_DOUBLE_EQ(factor("broadcast", ranks), 1) << ranks;
        EXPECT_DOUBLE_EQ(factor("sendrecv", ranks), 1) << ranks;
    }
}

// S of nccl-tests' algbw = S / t: the larger user buffer of one rank, here with a message size of 2^20 B in 1 us. As
// OSU counts, that is the part for each peer where there are such parts, and the whole buffer elsewhere.
TEST(CollectiveBandwidth, AlgorithmBandwidthIsOverTheLargerBuffer) {
    constexpr double mib_per_us = 1048.576;  // in 10^9 B/s
    for (char const* whole :
         {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "broadcast", "sendrecv"}) {
        EXPECT_NEAR(bandwidth_of({{"operation", whole}}, 4).algbw_GBps, mib_per_us, 1e-9) << whole;
    }
    for (char const* per_peer : {"allgather", "gather", "scatterv", "alltoall", "alltoallv"}) {
        EXPECT_NEAR(bandwidth_of({{"operation", per_peer}}, 4).algbw_GBps, 4 * mib_per_us, 1e-9) << per_peer;
    }
}

TEST(CollectiveBandwidth, InPlaceMovesTheSame) {
    for (char const* operation : {"allreduce", "reduce", "reduce_scatter", "allgather", "gather", "scatter"}) {
        EXPECT_DOUBLE_EQ(bandwidth_of({{"operation", operation}, {"in-place", "on"}}, 6).busbw_GBps,
                         bandwidth_of({{"operation", operation}}, 6).busbw_GBps)
            << operation;
    }
}

}  // namespace
}  // namespace dlmb::collective

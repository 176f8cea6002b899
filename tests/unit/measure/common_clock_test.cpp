// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Threads as ranks whose clocks are made to differ by seconds and to drift. All read one real clock, so what the common
// time ought to be at any moment is known.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/clock/common_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlmb::measure {
namespace {

using Shown = std::function<Nanoseconds(Nanoseconds)>;

/// A clock ahead by `ahead_ns` at time 0 and faster by `drift`.
Shown clock_of(Nanoseconds ahead_ns, double drift) {
    Nanoseconds const begin = now_ns();
    return [=](Nanoseconds t) { return t + ahead_ns + std::llround(drift * static_cast<double>(t - begin)); };
}

constexpr double largest_drift = 1e-4;
/// One measurement and no slope: the bound then holds at that moment, and drift counts from there.
constexpr DriftRule no_slope{1, 1'000'000'000'000};

void expect_common_time(int ranks, int ranks_per_node, std::function<Shown(Rank)> const& clocks) {
    Shown const reference = clocks(0);
    in_process::run_ranks(ranks, ranks_per_node, [&](Bootstrap& bootstrap) {
        CommonClock clock(bootstrap, {no_slope, clocks(bootstrap.rank())});
        for (int i = 0; i < 5; ++i) {
            Nanoseconds const before = now_ns();
            (void)clock.check();
            Nanoseconds const after = now_ns();
            // A clock and each of those on the path to the root drift since they were measured.
            double const drifted = 8 * largest_drift * static_cast<double>(after - before);
            EXPECT_NEAR(static_cast<double>(clock.common(after) - reference(after)), 0.0,
                        static_cast<double>(clock.error_ns()) + drifted)
                << "rank " << bootstrap.rank();
        }
    });
}

TEST(CommonClock, RanksOfOneNodeShareTheirClockAndAreNeverWrong) {
    in_process::run_ranks(4, [](Bootstrap& bootstrap) {
        CommonClock clock(bootstrap);
        EXPECT_EQ(clock.common(12345), 12345);
        EXPECT_EQ(clock.check(), 0);
        EXPECT_EQ(clock.error_ns(), 0);
    });
}

TEST(CommonClock, NodesWhoseClocksDifferBySecondsAndDriftAgreeOnOneTime) {
    std::vector<Shown> const clocks{clock_of(5'000'000'000, -largest_drift), clock_of(-3'000'000'000, largest_drift),
                                    clock_of(1'000'000'000'000, 0), clock_of(-77, -largest_drift),
                                    clock_of(2'000'000'001, largest_drift)};
    for (int const ranks_per_node : {1, 2}) {
        int const ranks = ranks_per_node * static_cast<int>(clocks.size());  // five nodes: three levels
        expect_common_time(ranks, ranks_per_node,
                           [&](Rank rank) { return clocks[static_cast<std::size_t>(rank / ranks_per_node)]; });
    }
}

TEST(CommonClock, ARankWithAClockOfItsOwnIsFoundOutOnItsNode) {
    Shown const node = clock_of(0, 0);
    Shown const other = clock_of(-4'000'000'000, largest_drift);
    expect_common_time(4, 0, [&](Rank rank) { return rank == 2 ? other : node; });
}

}  // namespace
}  // namespace dlmb::measure

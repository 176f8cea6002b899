// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/tick_scale.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlmb {
namespace {

// A rank that loses its core between the two reads of a scale gets a shifted one: that is what the repetition is for.
TEST(TickScale, PutsAMomentBetweenTheClockReadsAroundIt) {
    constexpr int attempts = 1000;
    constexpr Nanoseconds tolerance_ns = 1000;
    int inside = 0;
    for (int i = 0; i < attempts; ++i) {
        Nanoseconds const before = now_ns();
        Ticks const ticks = read_ticks();
        Nanoseconds const after = now_ns();
        Nanoseconds const time = TickScale().time_of(ticks);
        inside += time >= before - tolerance_ns && time <= after + tolerance_ns ? 1 : 0;
    }
    EXPECT_GT(inside, attempts / 2);
}

TEST(TickScale, KeepsOrderAndLengthOfWhatItConverts) {
    std::vector<Ticks> ticks;
    Nanoseconds const begin = now_ns();
    while (ticks.size() < 1000 || now_ns() - begin < 1'000'000) {
        ticks.push_back(read_ticks());
    }
    Nanoseconds const length = now_ns() - begin;
    TickScale const scale;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
        EXPECT_LE(scale.time_of(ticks[i - 1]), scale.time_of(ticks[i]));
    }
    Nanoseconds const converted = scale.time_of(ticks.back()) - scale.time_of(ticks.front());
    EXPECT_GT(converted, 0);
    EXPECT_LE(converted, length + length / 100);
}

}  // namespace
}  // namespace dlmb

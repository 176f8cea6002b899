// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/base/idle.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace dlmb {
namespace {

TEST(Idle, CountsTheAffinityMaskNotTheMachine) {
    int in_thread = 0;
    std::thread pinned([&] {
        cpu_set_t all;
        CPU_ZERO(&all);
        ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
        int first = 0;
        while (!CPU_ISSET(static_cast<std::size_t>(first), &all)) {
            ++first;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(first), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        in_thread = usable_processing_units();
    });
    pinned.join();
    EXPECT_EQ(in_thread, 1);
}

TEST(Idle, ReturnsWhetherItYieldsOrPauses) {
    for (bool const yield : {false, true}) {
        Idle const idle(yield);
        idle();
        EXPECT_EQ(idle.yields(), yield);
    }
}

TEST(Clock, NeverGoesBack) {
    Nanoseconds last = now_ns();
    for (int i = 0; i < 1000; ++i) {
        Nanoseconds const now = now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GT(last, 0);
}

}  // namespace
}  // namespace dlmb

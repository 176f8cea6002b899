// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
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

}  // namespace
}  // namespace dlmb

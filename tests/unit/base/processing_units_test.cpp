// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/processing_units.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <thread>

namespace dlmb {
namespace {

TEST(ProcessingUnits, AreThoseOfTheAffinityMask) {
    int first = 0;
    std::vector<int> in_thread;
    std::thread pinned([&] {
        cpu_set_t all;
        CPU_ZERO(&all);
        ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
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
    EXPECT_EQ(in_thread, std::vector<int>{first});
}

}  // namespace
}  // namespace dlmb

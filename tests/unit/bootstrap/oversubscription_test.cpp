// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <vector>

namespace dlmb {
namespace {

std::vector<std::size_t> usable_units() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<std::size_t> units;
    for (std::size_t unit = 0; unit < CPU_SETSIZE; ++unit) {
        if (CPU_ISSET(unit, &set)) {
            units.push_back(unit);
        }
    }
    return units;
}

void bind_to(std::size_t unit) {  // the calling thread
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(unit, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

TEST(Oversubscription, IsMoreRanksOnANodeThanUnits) {
    int const units = static_cast<int>(usable_units().size());
    in_process::run_ranks(units, [](Bootstrap& bootstrap) { EXPECT_FALSE(oversubscribed(bootstrap)); });
    in_process::run_ranks(units + 1, [](Bootstrap& bootstrap) { EXPECT_TRUE(oversubscribed(bootstrap)); });
    in_process::run_ranks(2 * units, units, [](Bootstrap& bootstrap) { EXPECT_FALSE(oversubscribed(bootstrap)); });
}

TEST(Oversubscription, CountsTheUnitsThatRanksAreBoundTo) {
    std::vector<std::size_t> const units = usable_units();
    in_process::run_ranks(static_cast<int>(units.size()), [&](Bootstrap& bootstrap) {
        bind_to(units[static_cast<std::size_t>(bootstrap.rank())]);
        EXPECT_FALSE(oversubscribed(bootstrap)) << "each has a unit of its own";
        EXPECT_FALSE(should_yield(YieldPolicy::automatic, bootstrap));
    });
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        bind_to(units.front());
        EXPECT_TRUE(oversubscribed(bootstrap)) << "both have one";
        EXPECT_TRUE(should_yield(YieldPolicy::automatic, bootstrap));
        EXPECT_FALSE(should_yield(YieldPolicy::never, bootstrap));
    });
}

TEST(YieldPolicy, AlwaysYieldsWithRoomForAllToo) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) { EXPECT_TRUE(should_yield(YieldPolicy::always, bootstrap)); });
}

}  // namespace
}  // namespace dlmb

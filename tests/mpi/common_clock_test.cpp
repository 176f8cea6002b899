// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The common clock over MPI. Ranks may sit in time namespaces (time_namespaces(7)) whose clocks differ by seconds, as
// tests/mpi/nodes_with_delay.py arranges it; how much each is off can be read, so what the common time ought to be is
// known.
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/measure/clock/common_clock.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace dlmb::measure {
namespace {

/// By how much this rank's now_ns() is ahead of the machine's.
Nanoseconds ahead_of_machine() {
    std::ifstream offsets("/proc/self/timens_offsets");
    std::string clock;
    Nanoseconds seconds = 0;
    Nanoseconds rest = 0;
    while (offsets >> clock >> seconds >> rest) {
        if (clock == "monotonic") {
            return seconds * 1'000'000'000 + rest;
        }
    }
    return 0;  // a system without time namespaces
}

TEST(CommonClockOverMpi, IsThatOfRankZeroWithinItsBound) {
    std::unique_ptr<Bootstrap> const bootstrap = make_mpi_bootstrap();
    Nanoseconds const ahead = ahead_of_machine();
    std::vector<std::int64_t> ahead_of_root{bootstrap->rank() == 0 ? -ahead : 0};
    bootstrap->all_reduce(ahead_of_root, Fold::sum);
    ahead_of_root[0] += ahead;

    CommonClock clock(*bootstrap);
    for (int round = 0; round < 5; ++round) {
        Nanoseconds const begin = now_ns();
        Nanoseconds const bound_before = clock.check();
        Nanoseconds const now = now_ns();
        Nanoseconds const wrong = std::abs(clock.common(now) - (now - ahead_of_root[0]));
        // The clocks do not drift, but a slope of up to 500 ppm may have been fitted to what the delays vary by.
        EXPECT_LE(wrong, clock.error_ns() + (now - begin) / 2000) << "rank " << bootstrap->rank();
        EXPECT_GE(bound_before, 0);
        if (bootstrap->rank() == 0) {
            EXPECT_EQ(wrong, 0);
        }
    }
    std::vector<std::int64_t> largest{clock.error_ns(), std::abs(ahead_of_root[0])};
    bootstrap->all_reduce(largest, Fold::max);
    if (bootstrap->rank() == 0) {
        RecordProperty("clock_err_ns", std::to_string(largest[0]));
        std::cout << "clock error " << largest[0] << " ns, clocks apart by " << largest[1] << " ns\n";
    }
}

}  // namespace
}  // namespace dlmb::measure

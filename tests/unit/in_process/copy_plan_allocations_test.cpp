// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/in_process/count_allocations.hpp"
#include "tests/unit/in_process/in_process_world.hpp"
#include "tests/unit/in_process/layered_plan.hpp"

#include <gtest/gtest.h>

namespace dlmb::in_process::testing {
namespace {

TEST(CopyPlan, AllocatesNothingInAnIteration) {
    run_test_ranks(4, [](TestRank& rank) {
        auto const compiled = rank.compile(layered_plan(rank.rank(), 4));
        std::uint64_t const before = allocations_of_this_thread();
        for (int iteration = 0; iteration < 10; ++iteration) {
            compiled->launch();
            compiled->finish();
        }
        EXPECT_EQ(allocations_of_this_thread() - before, 0U);
    });
}

}  // namespace
}  // namespace dlmb::in_process::testing

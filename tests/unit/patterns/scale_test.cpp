// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a launch of 16,384: 1F1B over 16 stages, 1024 chains side by side.
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/patterns/registered.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

TEST(Scale, PipelinePlansOf16384RanksHoldTogether) {
    WorldShape const world{16384, 8};
    Parameters const parameters{{"pp", "16"}, {"microbatches", "16"}};
    EXPECT_EQ(problem_of(*make_pattern(type_named("pipeline_p2p"), "quick", parameters, world), world), "");
}

}  // namespace
}  // namespace dlmb

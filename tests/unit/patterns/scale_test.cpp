// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a launch of 16,384: 1F1B over 16 stages, 1024 chains side by side.
#include "common/formats/plan/validate.hpp"
#include "patterns/registry.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb {
namespace {

TEST(Scale, PipelinePlansOf16384RanksHoldTogether) {
    auto const types = pattern_types();
    auto const type =
        std::find_if(types.begin(), types.end(), [](PatternType const* each) { return each->name == "pipeline_p2p"; });
    ASSERT_NE(type, types.end());
    WorldShape const world{16384, 8};
    Parameters const parameters{{"pp", "16"}, {"microbatches", "16"}};
    auto const pattern = (*type)->make(resolve(**type, "quick", parameters), world);
    auto const problems = validate(build_all(*pattern, world, {}));
    EXPECT_TRUE(problems.empty()) << problems.front().text;
}

}  // namespace
}  // namespace dlmb

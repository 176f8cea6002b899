// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/dp_gradients/pattern_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::dp_gradients {
namespace {

TEST(DpParams, LayoutsThatDoNotFitNameTheNumbers) {
    EXPECT_EQ(refusal({{"dp", "3"}}, {8, 8}), "--dp 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"stride", "3"}}, {8, 8}), "--stride 3: does not divide 8 ranks");
    EXPECT_EQ(refusal({{"stride", "2"}, {"dp", "8"}}, {8, 8}),
              "--dp 8 with --stride 2: 8 ranks do not divide into groups of 16");
}

TEST(DpParams, WrongValuesAreRefusedByName) {
    EXPECT_EQ(refusal({{"form", "reduce_scatter"}}, {8, 8}),
              "--form reduce_scatter: --scheme ddp only adds with allreduce; use megatron, zero1 or zero2");
    EXPECT_EQ(refusal({{"scheme", "zero1"}, {"gather-elements", "1"}}, {8, 8}),
              "--gather-elements 1: cuts the parameters into 162322944 allgathers; the most is 1048576");
    EXPECT_NE(refusal({{"model", "gpt-5"}}, {8, 8}).find("--model 'gpt-5': expected resnet-50"), std::string::npos);
    EXPECT_EQ(refusal({{"quantize", "mxfp8"}}, {8, 8}),
              "--quantize fp8:32:e8m0: these gradients are reduced by allreduce and no parameters are gathered; use "
              "--scheme zero1, zero2, zero3 or fsdp, or megatron with --form reduce_scatter");
    EXPECT_EQ(refusal({{"scheme", "fsdp"}, {"quantize", "mxfp8"}, {"in-flight", "5"}}, {8, 8}),
              "--in-flight 5 with --quantize: at most 4, because a packed operation has twice the buffers");
    EXPECT_EQ(refusal({{"in-flight", "9"}}, {8, 8}), "--in-flight '9': expected a whole number from 1 to 8");
}

TEST(DpParams, MembersOfAGroupAreAStrideApart) {
    EXPECT_EQ(plan_of("", {{"stride", "2"}}, {8, 8}, 3).groups.at(0).members, (std::vector<Rank>{1, 3, 5, 7}));
    EXPECT_EQ(plan_of("", {{"stride", "2"}, {"dp", "2"}}, {8, 8}, 4).groups.at(0).members, (std::vector<Rank>{4, 6}));
}

}  // namespace
}  // namespace dlmb::dp_gradients

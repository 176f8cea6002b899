// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/printouts.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

std::string refusal(PatternType const& type, int ranks, decltype(Options::parameters) const& parameters) {
    Options options;
    options.ranks = ranks;
    options.parameters = parameters;
    return usage_error_of([&] { print_plans(type, options, [](std::string_view) {}); });
}

TEST(PrintPlans, PrintsOnePoint) {
    EXPECT_TRUE(refusal(moe_alltoall::type(), 2, {{"tokens", {"1", "2"}}}).starts_with("--plan: takes one point"));
}

}  // namespace
}  // namespace dlmb::run

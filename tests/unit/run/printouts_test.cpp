// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/printouts.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "patterns/tp_allreduce/tp_allreduce.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

std::string refusal(PatternType const& type, int ranks, decltype(Options::parameters) const& parameters) {
    Options options;
    options.ranks = ranks;
    options.parameters = parameters;
    return usage_error_of([&] { (void)planned_point(type, options, "--plan"); });
}

TEST(PlannedPoint, ReorderIsRefusedWhereNoRankComputes) {
    EXPECT_EQ(refusal(moe_alltoall::type(), 2, {{"tokens", {"16"}}, {"transform", {"split:2,reorder"}}}),
              "--transform reorder: these plans have no computations; give them a time first");
    // Ranks of the first stage compute nothing, those of the last put logits in another order.
    EXPECT_EQ(refusal(tp_allreduce::type(), 4,
                      {{"tp", {"2"}},
                       {"pp", {"2"}},
                       {"phase", {"decode"}},
                       {"logits", {"allgather"}},
                       {"pack", {"host"}},
                       {"layers", {"2"}},
                       {"hidden", {"256"}},
                       {"vocabulary", {"1024"}},
                       {"transform", {"reorder"}}}),
              "accepted");
}

TEST(PlannedPoint, IsOne) {
    EXPECT_TRUE(refusal(moe_alltoall::type(), 2, {{"tokens", {"1", "2"}}}).starts_with("--plan: takes one point"));
}

}  // namespace
}  // namespace dlmb::run

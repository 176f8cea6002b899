// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a collective pattern and its plans.
#pragma once

#include "patterns/collective/collective.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace dlmb::collective {

inline std::unique_ptr<Pattern> make_collective(Parameters overrides, WorldShape const& world) {
    overrides.try_emplace("message-size", "1024");
    return make_pattern(type(), "", overrides, world);
}

inline std::vector<Plan> plans_of(Parameters const& overrides, WorldShape const& world, Draw draw = {}) {
    return build_all(*make_collective(overrides, world), world, draw);
}

/// The only step of a rank's plan.
template <class Kind>
Kind const& operation_of(Plan const& plan) {
    return std::get<Kind>(plan.steps.at(0).operation);
}
template <OperationKind kind>
dlmb::Collective const& operation_of(Plan const& plan) {
    EXPECT_EQ(kind_of(plan.steps.at(0).operation), kind);
    return operation_of<dlmb::Collective>(plan);
}

}  // namespace dlmb::collective

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a moe_alltoall pattern and to the exchanges of its plans.
#pragma once

#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlmb::moe_alltoall {

inline std::unique_ptr<Pattern> make_moe(Parameters const& overrides, WorldShape const& world,
                                         std::string_view preset = "") {
    return make_pattern(type(), preset, overrides, world);
}

inline std::string refusal(Parameters const& overrides, WorldShape const& world) {
    return dlmb::refusal(type(), "", overrides, world);
}

inline Exchange const& exchange_of(Plan const& plan, std::string_view label) {
    return std::get<Exchange>(steps_with(plan, label).at(0)->operation);
}

/// Bytes that all ranks send in the steps of this label.
inline Bytes sent(std::vector<Plan> const& plans, std::string_view label) {
    Bytes sum = 0;
    for (Plan const& plan : plans) {
        for (Step const* step : steps_with(plan, label)) {
            sum += total(std::get<Exchange>(step->operation).send);
        }
    }
    return sum;
}

}  // namespace dlmb::moe_alltoall

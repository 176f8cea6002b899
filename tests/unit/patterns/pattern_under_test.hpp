// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a pattern of any type, to its refusals and to what its plans hold.
#pragma once

#include "patterns/pattern.hpp"
#include "tests/unit/patterns/build_one.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

inline std::unique_ptr<Pattern> make_pattern(PatternType const& type, std::string_view preset,
                                             Parameters const& overrides, WorldShape const& world) {
    return type.make(resolve(type, preset, overrides), world);
}

inline std::string refusal(PatternType const& type, std::string_view preset, Parameters const& overrides,
                           WorldShape const& world) {
    return usage_error_of([&] { (void)make_pattern(type, preset, overrides, world); });
}

inline std::vector<std::string> labels(Plan const& plan) {
    std::vector<std::string> found;
    for (Step const& step : plan.steps) {
        found.push_back(step.label);
    }
    return found;
}

}  // namespace dlmb

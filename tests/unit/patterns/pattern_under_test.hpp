// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a pattern of any type, to its refusals and to what its plans hold.
#pragma once

#include "common/formats/plan/validate.hpp"
#include "patterns/pattern.hpp"
#include "tests/unit/patterns/build_one.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <memory>
#include <numeric>
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

/// Short ways to one type, whose function is given.
struct TypeUnderTest {
    PatternType const& (*type)();

    [[nodiscard]] std::unique_ptr<Pattern> make(std::string_view preset, Parameters const& overrides,
                                                WorldShape const& world) const {
        return make_pattern(type(), preset, overrides, world);
    }
    [[nodiscard]] Plan plan(std::string_view preset, Parameters const& overrides, WorldShape const& world,
                            Rank me = 0) const {
        return build_one(*make(preset, overrides, world), me, {});
    }
    [[nodiscard]] std::string refusal(Parameters const& overrides, WorldShape const& world) const {
        return dlmb::refusal(type(), "", overrides, world);
    }
};

/// What validate() finds first in the plans of all ranks; empty: nothing.
inline std::string problem_of(std::vector<Plan> const& plans) {
    auto const problems = validate(plans);
    return problems.empty() ? "" : problems.front().text;
}
inline std::string problem_of(Pattern const& pattern, WorldShape const& world, Draw draw = {}) {
    return problem_of(build_all(pattern, world, draw));
}

inline std::vector<Step const*> steps_with(Plan const& plan, std::string_view label) {
    std::vector<Step const*> found;
    for (Step const& step : plan.steps) {
        if (step.label == label) {
            found.push_back(&step);
        }
    }
    return found;
}

inline Bytes total(std::vector<Block> const& blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), Bytes{0},
                           [](Bytes sum, Block const& block) { return sum + block.bytes; });
}

inline std::vector<std::string> labels(Plan const& plan) {
    std::vector<std::string> found;
    for (Step const& step : plan.steps) {
        found.push_back(step.label);
    }
    return found;
}

}  // namespace dlmb

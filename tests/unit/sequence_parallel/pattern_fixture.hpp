// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a sequence_parallel pattern, to its refusals and to what its plans hold.
#pragma once

#include "common/base/error.hpp"
#include "patterns/sequence_parallel/sequence_parallel.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::sequence_parallel {

inline std::unique_ptr<Pattern> make_pattern(std::string_view preset, Parameters const& overrides,
                                             WorldShape const& world) {
    return type().make(resolve(type(), preset, overrides), world);
}

inline Plan plan_of(std::string_view preset, Parameters const& overrides, WorldShape const& world, Rank me = 0) {
    return build_one(*make_pattern(preset, overrides, world), me, {});
}

inline std::string refusal(Parameters const& overrides, WorldShape const& world, std::string_view preset = "") {
    try {
        (void)make_pattern(preset, overrides, world);
    } catch (UsageError const& error) {
        return error.what();
    }
    return "accepted";
}

inline std::vector<std::string> labels(Plan const& plan) {
    std::vector<std::string> found;
    for (Step const& step : plan.steps) {
        found.push_back(step.label);
    }
    return found;
}

}  // namespace dlmb::sequence_parallel

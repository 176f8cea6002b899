// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The pattern sequence_parallel for tests.
#pragma once

#include "patterns/sequence_parallel/sequence_parallel.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

namespace dlmb::sequence_parallel {

inline std::unique_ptr<Pattern> make_pattern(std::string_view preset, Parameters const& overrides,
                                             WorldShape const& world) {
    return dlmb::make_pattern(type(), preset, overrides, world);
}

inline Plan plan_of(std::string_view preset, Parameters const& overrides, WorldShape const& world, Rank me = 0) {
    return build_one(*make_pattern(preset, overrides, world), me, {});
}

inline std::string refusal(Parameters const& overrides, WorldShape const& world, std::string_view preset = "") {
    return dlmb::refusal(type(), preset, overrides, world);
}

}  // namespace dlmb::sequence_parallel

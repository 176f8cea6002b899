// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to pipeline_p2p plans and to what they hold.
#pragma once

#include "patterns/pipeline_p2p/pipeline_p2p.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::pipeline_p2p {

inline std::unique_ptr<Pattern> make_pipeline(Parameters const& overrides, WorldShape const& world,
                                              std::string_view preset = "") {
    return make_pattern(type(), preset, overrides, world);
}

inline std::vector<Plan> plans_of(Parameters const& overrides, int ranks, std::string_view preset = "") {
    WorldShape const world{ranks, ranks};
    return build_all(*make_pipeline(overrides, world, preset), world, {});
}

inline constexpr char const* schedules[] = {"gpipe", "1f1b", "interleaved", "chimera", "zb_h1", "zb_v", "dualpipe"};
inline constexpr char const* modes[] = {"batched", "separate", "meta_data", "handshake_data"};

inline Parameters with(Parameters parameters, Parameters const& overrides) {
    for (auto const& [name, value] : overrides) {
        parameters.insert_or_assign(name, value);
    }
    return parameters;
}

inline double statistic(Pattern const& pattern, std::string_view name) {
    for (Statistic const& entry : pattern.statistics({})) {
        if (entry.name == name) {
            return entry.value;
        }
    }
    return -1;
}

}  // namespace dlmb::pipeline_p2p

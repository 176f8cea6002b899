// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every preset on 2 to 1,024 ranks; those above 64 take minutes and are a test of their own.
#include "tests/unit/simulator/simulated_patterns.hpp"

namespace dlmb::predict {
namespace {

class PatternsAtScale : public testing::TestWithParam<int> {};

TEST_P(PatternsAtScale, EveryPresetRunsToItsEnd) {
    int const ranks = GetParam();
    int run = 0;
    for (PatternType const* type : pattern_types()) {
        std::vector<std::string> presets{""};
        for (Preset const& preset : presets_of(*type)) {
            presets.push_back(preset.name);
        }
        for (std::string const& preset : presets) {
            SCOPED_TRACE(std::string(type->name) + ' ' + preset);
            if (auto const simulation = simulated(*type, preset, ranks, small_cluster())) {
                expect_sound(*simulation);
                ++run;
            }
        }
    }
    EXPECT_GT(run, 4);
}

INSTANTIATE_TEST_SUITE_P(On, PatternsAtScale, testing::Values(2, 3, 4, 16, 64, 256, 1024),
                         [](auto const& each) { return std::to_string(each.param); });

}  // namespace
}  // namespace dlmb::predict

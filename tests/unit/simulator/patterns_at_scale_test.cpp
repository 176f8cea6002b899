// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every preset on 2 to 1,024 ranks. Above 64 ranks each number is a test of its own: 1,024 take two minutes and 4 GiB.
#include "tests/unit/simulator/simulated_patterns.hpp"

#include <bit>
#include <set>

namespace dlmb::predict {
namespace {

class PatternsAtScale : public testing::TestWithParam<int> {};

TEST_P(PatternsAtScale, EveryPresetRunsToItsEnd) {
    int const ranks = GetParam();
    int total = 0;
    for (PatternType const* type : pattern_types()) {
        int run = 0;
        std::set<Parameters> seen;  // presets of several models are one where quick_parameters() says the model
        std::vector<std::string> presets{""};
        for (Preset const& preset : presets_of(*type)) {
            presets.push_back(preset.name);
        }
        for (std::string const& preset : presets) {
            SCOPED_TRACE(std::string(type->name) + ' ' + preset);
            Parameters const parameters = resolve(*type, preset, quick_parameters(type->name));
            if (!seen.insert(parameters).second) {
                continue;
            }
            if (auto const simulation = simulated(*type, parameters, ranks, small_cluster())) {
                expect_sound(*simulation);
                EXPECT_GT(simulation->time, 0);
                ++run;
            }
        }
        total += run;
        // Of 3 ranks there is none that divides a sequence of 2^n tokens.
        EXPECT_TRUE(run > 0 || !std::has_single_bit(static_cast<unsigned>(ranks))) << "no preset of " << type->name;
    }
    EXPECT_GT(total, 4);
}

INSTANTIATE_TEST_SUITE_P(On, PatternsAtScale, testing::Values(2, 3, 4, 8, 64, 256, 1024),
                         [](auto const& each) { return std::to_string(each.param); });

}  // namespace
}  // namespace dlmb::predict

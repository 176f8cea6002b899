// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/validate.hpp"
#include "tests/unit/dp_gradients/pattern_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::dp_gradients {
namespace {

void expect_sound(Preset const& preset, WorldShape const& world) {
    auto const problems = validate(build_all(*make_pattern(preset.name, {}, world), world, {}));
    EXPECT_TRUE(problems.empty()) << preset.name << " at " << world.ranks << " ranks: " << problems.at(0).text;
}

TEST(DpPresets, TheNamesThatScriptsRelyOnExist) {
    auto const presets = presets_of(type());
    for (char const* name : {"resnet-50", "gpt-19m", "gpt-125m", "gpt-1.3b", "gpt-13b", "llama-7b", "llama-13b",
                             "llama-70b", "llama3-8b"}) {
        EXPECT_TRUE(std::any_of(presets.begin(), presets.end(), [&](Preset const& preset) {
            return preset.name == name;
        })) << name;
    }
}

TEST(DpPresets, EveryOneBuildsAPlanThatHoldsTogether) {
    for (Preset const& preset : presets_of(type())) {
        for (int const ranks : {1, 2, 4, 8}) {
            expect_sound(preset, {ranks, 8});
        }
    }
}

TEST(DpPresets, ThreeAndSixRanksFitOrAreRefusedWithTheNumbers) {
    for (Preset const& preset : presets_of(type())) {
        for (int const ranks : {3, 6}) {
            std::string const answer = refusal({}, {ranks, 8}, preset.name);
            if (answer == "accepted") {
                expect_sound(preset, {ranks, 8});
            } else {
                EXPECT_NE(answer.find("divide"), std::string::npos) << preset.name << ": " << answer;
                EXPECT_NE(answer.find(std::to_string(ranks)), std::string::npos) << preset.name << ": " << answer;
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::dp_gradients

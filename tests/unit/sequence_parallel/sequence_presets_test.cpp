// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/validate.hpp"
#include "tests/unit/sequence_parallel/pattern_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::sequence_parallel {
namespace {

void expect_sound(Preset const& preset, WorldShape const& world) {
    auto const problems = validate(build_all(*make_pattern(preset.name, {}, world), world, {}));
    EXPECT_TRUE(problems.empty()) << preset.name << " at " << world.ranks << " ranks: " << problems.at(0).text;
}

TEST(SequencePresets, TheNamesThatScriptsRelyOnExist) {
    auto const presets = presets_of(type());
    for (char const* name : {"ulysses-64k", "ulysses-128k", "llama3-8b-ring-128k", "llama3-70b-ring-128k"}) {
        EXPECT_TRUE(std::any_of(presets.begin(), presets.end(), [&](Preset const& preset) {
            return preset.name == name;
        })) << name;
    }
}

TEST(SequencePresets, EveryOneBuildsAPlanThatHoldsTogether) {
    for (Preset const& preset : presets_of(type())) {
        for (int const ranks : {1, 2, 4, 8}) {
            expect_sound(preset, {ranks, 8});
        }
    }
}

TEST(SequencePresets, ThreeAndSixRanksFitOrAreRefusedWithTheNumbers) {
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
}  // namespace dlmb::sequence_parallel

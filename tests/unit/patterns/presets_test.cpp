// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/plan/validate.hpp"
#include "tests/unit/moe_alltoall/moe_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace dlmb {
namespace {

constexpr ParameterInfo toy_parameters[] = {{"size", "bytes", "1"}, {"shape", "form", "ring"}};

PatternType toy(std::string_view presets) {
    return {"toy", "for tests", toy_parameters, {}, presets, nullptr};
}

template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (UsageError const& error) {
        return error.what();
    }
    return "accepted";
}

constexpr std::string_view two_presets = R"([{"name": "a", "source": "a book", "parameters": {"size": 0.5}},
                                             {"name": "b", "source": "a paper", "parameters": {"shape": "star"}}])";

TEST(Presets, KeepFileOrderSourceAndNumbersAsWritten) {
    auto const presets = presets_of(toy(two_presets));
    ASSERT_EQ(presets.size(), 2U);
    EXPECT_EQ(presets[0].name, "a");
    EXPECT_EQ(presets[0].source, "a book");
    EXPECT_EQ(presets[0].values, (Parameters{{"size", "0.5"}}));
    EXPECT_EQ(presets[1].values, (Parameters{{"shape", "star"}}));
}

TEST(Presets, OverridesWinOverPresetOverDefaults) {
    EXPECT_EQ(resolve(toy(two_presets), "", {}), (Parameters{{"size", "1"}, {"shape", "ring"}}));
    EXPECT_EQ(resolve(toy(two_presets), "b", {{"size", "7"}}), (Parameters{{"size", "7"}, {"shape", "star"}}));
    EXPECT_EQ(resolve(toy(two_presets), "b", {{"shape", "mesh"}}), (Parameters{{"size", "1"}, {"shape", "mesh"}}));
}

TEST(Presets, UnknownNamesComeWithTheNearest) {
    EXPECT_EQ(refusal([] { (void)resolve(toy(two_presets), "aa", {}); }), "unknown preset 'aa'; nearest: a, b");
    EXPECT_EQ(refusal([] {
                  (void)resolve(toy(two_presets), "", {{"sise", "1"}});
              }),
              "unknown parameter 'sise'; nearest: size, shape");
}

TEST(Presets, AFileThatBreaksItsRulesIsRefusedByName) {
    auto const read = [](std::string_view text) { return refusal([&] { (void)presets_of(toy(text)); }); };
    EXPECT_EQ(read("{}"), "toy: presets.json: expected a list of objects");
    EXPECT_EQ(read(R"([{"name": "a", "source": "s", "parameters": {"colour": 1}}])"),
              "toy: presets.json: preset 'a': unknown parameter 'colour'; nearest: size, shape");
    EXPECT_EQ(read(R"([{"name": "a", "source": "", "parameters": {}}])"),
              "toy: presets.json: preset 'a': 'source' must be a text that is not empty");
    EXPECT_EQ(read(R"([{"name": "a", "source": "s", "parameters": {"size": true}}])"),
              "toy: presets.json: preset 'a': 'size' must be a number or a text");
    EXPECT_EQ(read(R"([{"name": "a", "source": "s"}])"),
              "toy: presets.json: preset 'a': 'parameters' must be an object");
    EXPECT_EQ(read(R"([{"name": "a", "source": "s", "parameters": {}, "x": 1}])"),
              "toy: presets.json: preset 'a': unknown key 'x'; expected name, source, parameters");
    EXPECT_EQ(
        read(R"([{"name": "a", "source": "s", "parameters": {}}, {"name": "a", "source": "s", "parameters": {}}])"),
        "toy: presets.json: two presets named 'a'");
    EXPECT_NE(read("[").find("parse error"), std::string::npos);
}

TEST(MoePresets, TheNamesThatScriptsRelyOnExist) {
    auto const presets = presets_of(moe_alltoall::type());
    for (char const* name :
         {"deepseek-v2-lite", "deepseek-v2", "deepseek-v3", "kimi-k2", "mixtral-8x7b", "mixtral-8x22b", "qwen3-30b-a3b",
          "qwen3-235b-a22b", "qwen3-coder-480b", "llama4-scout", "llama4-maverick", "gpt-oss-20b", "gpt-oss-120b",
          "glm-4.5-air", "switch-base-8", "ds-moe-350m-128", "ds-moe-1.3b-128"}) {
        EXPECT_TRUE(std::any_of(presets.begin(), presets.end(), [&](Preset const& preset) {
            return preset.name == name;
        })) << name;
    }
}

// 64 tokens: the shape of every preset at a price that unit tests can pay.
TEST(MoePresets, EveryOneBuildsAPlanThatHoldsTogether) {
    for (Preset const& preset : presets_of(moe_alltoall::type())) {
        for (int const ranks : {1, 2, 8}) {
            WorldShape const world{ranks, 4};
            auto const pattern = moe_alltoall::make_moe({{"tokens", "64"}}, world, preset.name);
            auto const problems = validate(build_all(*pattern, world, {}));
            EXPECT_TRUE(problems.empty()) << preset.name << " at " << ranks << " ranks: " << problems.at(0).text;
        }
    }
}

}  // namespace
}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pattern.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

constexpr ParameterInfo toy_parameters[] = {{"size", "bytes", "1"}, {"shape", "form", "ring"}};

PatternType toy(std::string_view presets) {
    return {"toy", "for tests", toy_parameters, {}, presets, nullptr};
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
    EXPECT_EQ(usage_error_of([] { (void)resolve(toy(two_presets), "aa", {}); }), "unknown preset 'aa'; nearest: a, b");
    EXPECT_EQ(usage_error_of([] {
                  (void)resolve(toy(two_presets), "", {{"sise", "1"}});
              }),
              "unknown parameter 'sise'; nearest: size, shape");
}

TEST(Presets, AFileThatBreaksItsRulesIsRefusedByName) {
    auto const read = [](std::string_view text) { return usage_error_of([&] { (void)presets_of(toy(text)); }); };
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

}  // namespace
}  // namespace dlmb

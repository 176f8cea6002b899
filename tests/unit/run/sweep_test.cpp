// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/printouts.hpp"
#include "common/run/sweep.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "patterns/tp_allreduce/tp_allreduce.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Sweep, WithoutAPresetThereIsOnePointOfDefaults) {
    std::vector<SweepPoint> const points = expand_sweep(moe_alltoall::type(), Options{});
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].preset, "");
    EXPECT_EQ(points[0].parameters, points[0].preset_values);
}

TEST(Sweep, IsEveryPresetWithEveryCombination) {
    Options options;
    options.presets = {"mixtral-8x7b", "deepseek-v3"};
    options.parameters = {{"hidden", {"64", "128"}}, {"tokens", {"1", "2", "3"}}};
    std::vector<SweepPoint> const points = expand_sweep(moe_alltoall::type(), options);
    ASSERT_EQ(points.size(), 2U * 2U * 3U);
    EXPECT_EQ(points[0].title, "mixtral-8x7b hidden=64 tokens=1");
    EXPECT_EQ(points[1].parameters.at("tokens"), "2");
    EXPECT_EQ(points[11].title, "deepseek-v3 hidden=128 tokens=3");
    EXPECT_EQ(points[11].preset_values.at("hidden"), "7168");
}

/// LLaMA's shape, small: 64 values, 2 layers, a vocabulary that no power of two divides.
ModelShape small_llama() {
    ModelShape model;
    model.source = "config.json";
    model.name = "llama";
    model.hidden = 64;
    model.layers = 2;
    model.heads = model.kv_heads = 4;
    model.head_dim = 16;
    model.mlp = 128;
    model.vocabulary = 1000;
    model.rms_norm = model.gated_mlp = true;
    model.element = Element::bf16;
    return model;
}

TEST(Sweep, WhatFollowsFromAModelIsBelowWhatIsGivenAndTheTitleNamesTheModel) {
    Options options;
    options.model = small_llama();
    options.model->experts = 8;
    options.model->top_k = 2;
    options.parameters = {{"hidden", {"32"}}, {"tokens", {"1", "2"}}};
    std::vector<SweepPoint> const points = expand_sweep(moe_alltoall::type(), options);
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].title, "llama hidden=32 tokens=1");
    EXPECT_EQ(points[0].parameters.at("hidden"), "32");
    EXPECT_EQ(points[0].parameters.at("experts"), "8");
    EXPECT_EQ(points[0].preset_values.at("experts"), "64") << "so that the cell's id names it";
    EXPECT_EQ(points[1].derived, "--model llama: --element bf16 --experts 8 --group-score best --layers 2 --top-k 2");
}

TEST(Sweep, WhatTheModelDoesNotTellCanBeGiven) {
    Options options;
    options.model = small_llama();
    options.model->experts = 8;
    EXPECT_EQ(
        usage_error_of([&] { (void)expand_sweep(moe_alltoall::type(), options); }),
        "config.json: does not tell how many experts a token has, which --top-k follows from; give --top-k as well");
    options.parameters = {{"top-k", {"3"}}};
    EXPECT_EQ(expand_sweep(moe_alltoall::type(), options).at(0).parameters.at("top-k"), "3");
}

// Gradients are counted by the model, and each of them has the bytes of the element that travels.
TEST(Sweep, WhatFollowsFromAModelFollowsFromTheElementThatIsGiven) {
    Options options;
    options.model = small_llama();
    options.parameters = {{"element", {"bf16", "fp32", "int8"}}};
    std::vector<SweepPoint> const points = expand_sweep(collective::type(), options);
    ASSERT_EQ(points.size(), 3U);
    // Two layers of 2 norms, 4 * 64 * 64 of attention and 3 * 64 * 128 of the mlp; final norm; 1000 words, twice.
    std::uint64_t const gradients = 2 * (2 * 64 + 4 * 64 * 64 + 3 * 64 * 128) + 64 + 2 * 1000 * 64;
    EXPECT_EQ(points[0].parameters.at("message-size"), std::to_string(2 * gradients));
    EXPECT_EQ(points[1].parameters.at("message-size"), std::to_string(4 * gradients));
    EXPECT_EQ(points[2].parameters.at("message-size"), std::to_string(gradients));
    options.parameters["message-size"] = {"8:8"};
    EXPECT_EQ(expand_sweep(collective::type(), options).at(1).parameters.at("message-size"), "8") << "given";
}

TEST(Sweep, WhatFollowsFromAModelFollowsFromTheRanksThatAreGiven) {
    Options options;
    options.model = small_llama();
    options.parallel.tp = 2;
    options.parameters = {{"tp", {"1", "16"}}};
    std::vector<SweepPoint> const points = expand_sweep(tp_allreduce::type(), options);
    EXPECT_EQ(points.at(0).parameters.at("vocabulary"), "1024") << "padded to 128 tp";
    EXPECT_EQ(points.at(1).parameters.at("vocabulary"), "2048");
    EXPECT_EQ(points.at(1).parameters.at("tp"), "16");
}

TEST(Sweep, PartsOfParallelThatAProgramDoesNotUseAreNamed) {
    Options options;
    options.model = small_llama();
    options.parallel = parse_parallelism("tp=2,ep=8,cp=4", "--parallel");
    EXPECT_TRUE(expand_sweep(tp_allreduce::type(), options)
                    .at(0)
                    .derived.ends_with(" --vocabulary 1024; of --parallel this program does not use ep=8, cp=4"));
    options.parallel = {};
    EXPECT_THAT(expand_sweep(tp_allreduce::type(), options).at(0).derived, Not(HasSubstr("--parallel")));
}

// The record holds these parameters: `ep: 0` would say nothing.
TEST(Sweep, ParametersThatLeaveAChoiceAreResolvedInTheWorldAndEqualPointsAreOne) {
    Options options;
    options.parameters = {{"ep", {"0", "4", "2"}}};
    std::vector<SweepPoint> const points =
        resolved_in(moe_alltoall::type(), expand_sweep(moe_alltoall::type(), options), {4, 4});
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].parameters.at("ep"), "4");
    EXPECT_EQ(points[0].title, "ep=0");
    EXPECT_EQ(points[1].parameters.at("ep"), "2");
}

// `--operation allreduce,alltoallv --skew zipf:1` names no skew of the allreduce, which has none.
TEST(Sweep, AnOptionThatAnOperationHasNoUseForHasItsDefaultThere) {
    Options options;
    options.parameters = {{"operation", {"allreduce", "alltoallv"}},
                          {"message-size", {"64:64"}},
                          {"root", {"1"}},
                          {"skew", {"zipf:1", "zipf:2"}}};
    std::vector<SweepPoint> const points =
        resolved_in(collective::type(), expand_sweep(collective::type(), options), {4, 4});
    ASSERT_EQ(points.size(), 3U) << "one allreduce";
    EXPECT_EQ(points[0].parameters.at("skew"), "balanced");
    EXPECT_EQ(points[0].parameters.at("root"), "0");
    EXPECT_EQ(points[0].title, "operation=allreduce root=0 skew=balanced 64 B");
    EXPECT_EQ(points[1].title, "operation=alltoallv root=0 skew=zipf:1 64 B");
    options.parameters = {{"operation", {"allreduce"}},
                          {"message-size", {"64:64"}},
                          {"compute", {"none", "busy"}},
                          {"compute-us", {"20", "50"}}};
    EXPECT_EQ(resolved_in(collective::type(), expand_sweep(collective::type(), options), {4, 4}).size(), 3U)
        << "nothing computes for one time";
    options.parameters = {{"operation", {"broadcast"}}, {"route", {"ping_pong"}}, {"root", {"1"}}};
    SweepPoint const rooted =
        resolved_in(collective::type(), expand_sweep(collective::type(), options), {4, 4}).front();
    EXPECT_EQ(rooted.parameters.at("root"), "1");
    EXPECT_EQ(rooted.parameters.at("route"), "ring");
    EXPECT_EQ(rooted.title, "operation=broadcast root=1 route=ring 8 B");
}

// Co-Designing Model Architectures with Hardware (arXiv 2401.14489) varies shapes: h, h + 1, h rounded up to 64.
TEST(Sweep, OfShapesHoldsSizesThatAreNoPowersOfTwo) {
    Options options;
    options.parameters = {{"hidden", {"4096", "4097", "4160"}}};
    std::vector<SweepPoint> const points = expand_sweep(moe_alltoall::type(), options);
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[1].parameters.at("hidden"), "4097");
    EXPECT_EQ(points[2].parameters.at("hidden"), "4160");
}

TEST(Sweep, ASizeThatFollowsFromAModelIsThePointAndNotASweep) {
    Options options;
    options.model = small_llama();
    options.model->layers = 1;
    options.model->vocabulary = 128;
    std::vector<SweepPoint> const points = expand_sweep(collective::type(), options);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].title, "llama operation=allreduce 115072 B");  // 2 * (128 + 16384 + 24576 + 64 + 2 * 8192)
    EXPECT_EQ(points[0].parameters.at("message-size"), "115072");
}

TEST(Sweep, AValueThatIsWrongIsNamedAsThePresets) {
    auto const refusal = [](char const* name, char const* value) {
        Options options;
        options.presets = {"deepseek-v3"};
        options.parameters = {{name, {value}}};
        return usage_error_of([&] {
            (void)make_pattern(moe_alltoall::type(), expand_sweep(moe_alltoall::type(), options).front(), {4, 4});
        });
    };
    EXPECT_EQ(refusal("expert-groups", "7"),
              "--expert-groups 7: does not divide --experts 256; --experts 256 is of preset deepseek-v3");
    EXPECT_EQ(refusal("experts", "4"),
              "--top-k '8': expected a whole number from 1 to 4; --top-k 8 is of preset deepseek-v3");
}

TEST(Sweep, OfMillionsOfPointsIsRefused) {
    std::vector<std::string> many;
    for (int i = 1; i <= 400; ++i) {
        many.push_back(std::to_string(i));
    }
    Options options;
    options.parameters = {{"hidden", many}, {"tokens", many}};
    auto const refusal = [&] { return usage_error_of([&] { (void)expand_sweep(moe_alltoall::type(), options); }); };
    EXPECT_EQ(refusal(), "--tokens: more than 20000 points in all; give fewer values, or several launches");
    options.parameters["tokens"].resize(15);  // 6000, for each of two presets in two kinds of memory
    options.presets = {"mixtral-8x7b", "deepseek-v3"};
    options.memory = {MemoryKind::host, MemoryKind::ucx};
    EXPECT_NE(refusal(), "accepted");
}

TEST(Sweep, OfOnePointOnlyIsAPlanPrinted) {
    Options options;
    options.ranks = 2;
    options.parameters = {{"tokens", {"1", "2"}}};
    EXPECT_TRUE(usage_error_of([&] {
                    print_plans(moe_alltoall::type(), options, [](std::string_view) {});
                }).starts_with("--plan: takes one point"));
}

TEST(Sweep, APointThatIsNamedTwiceIsThereOnce) {
    Options options;
    options.presets = {"mixtral-8x7b", "mixtral-8x7b"};
    options.parameters = {{"tokens", {"2", "1", "2"}}};
    options.memory = {MemoryKind::host, MemoryKind::pinned, MemoryKind::host};
    std::vector<SweepPoint> const points = expand_sweep(moe_alltoall::type(), options);
    ASSERT_EQ(points.size(), 2U * 2U);
    EXPECT_EQ(points[0].title, "mixtral-8x7b tokens=2");
    EXPECT_EQ(points[2].title, "mixtral-8x7b tokens=1");
}

std::vector<std::string> titles(std::map<std::string, std::vector<std::string>, std::less<>> const& parameters) {
    Options options;
    options.parameters = parameters;
    std::vector<std::string> found;
    for (SweepPoint const& point : expand_sweep(collective::type(), options)) {
        found.push_back(point.title);
    }
    return found;
}

using Titles = std::vector<std::string>;

TEST(Sweep, SizesRunFastestAndStandAtTheEnd) {
    EXPECT_EQ(titles({{"message-size", {"512:2K"}}, {"operation", {"allgather", "alltoall"}}}),
              (Titles{"operation=allgather 512 B", "operation=allgather 1 K", "operation=allgather 2 K",
                      "operation=alltoall 512 B", "operation=alltoall 1 K", "operation=alltoall 2 K"}));
}

TEST(Sweep, WhatCanBeInPlaceFollowsInPlace) {
    Options options;
    options.parameters = {{"message-size", {"512:1K"}}, {"operation", {"allgather", "broadcast"}}};
    std::vector<SweepPoint> const points = expand_sweep(collective::type(), options);
    std::vector<std::string> words;
    for (SweepPoint const& point : with_points_in_place(collective::type(), points, {2, 2})) {
        words.push_back(point.title + " " + point.parameters.at("in-place"));
    }
    EXPECT_EQ(words,
              (Titles{"operation=allgather 512 B off", "operation=allgather 512 B on", "operation=allgather 1 K off",
                      "operation=allgather 1 K on", "operation=broadcast 512 B off", "operation=broadcast 1 K off"}));
}

TEST(Sweep, ADefaultRangeIsExpandedToo) {
    Titles const all = titles({});
    EXPECT_EQ(all.size(), 18U);  // 2^3 to 2^20
    EXPECT_EQ(all.front(), "operation=allreduce 8 B");
    EXPECT_EQ(all.back(), "operation=allreduce 1 M");
}

TEST(Sweep, ATitleNamesTheOperationAlsoWhereItIsTheDefaultAndTheWindowsOfThoseThatHaveThem) {
    EXPECT_EQ(titles({{"message-size", {"8:8"}}}), Titles{"operation=allreduce 8 B"});
    EXPECT_EQ(titles({{"message-size", {"8:8"}}, {"operation", {"bandwidth"}}}),
              Titles{"operation=bandwidth window=64 pairs=all 8 B"});
    EXPECT_EQ(titles({{"message-size", {"8:8"}}, {"operation", {"bandwidth"}}, {"window", {"16", "32"}}}),
              (Titles{"operation=bandwidth window=16 pairs=all 8 B", "operation=bandwidth window=32 pairs=all 8 B"}));
}

TEST(Sweep, WhatHasNoSizeIsOnePoint) {
    EXPECT_EQ(titles({{"message-size", {"8:16"}}, {"operation", {"barrier", "reduce"}}}),
              (Titles{"operation=barrier 0 B", "operation=reduce 8 B", "operation=reduce 16 B"}));
}

TEST(Sweep, RangesOfAListMayOverlap) {
    EXPECT_EQ(titles({{"message-size", {"16", "32:32", "8:64"}}}),
              (Titles{"operation=allreduce 8 B", "operation=allreduce 16 B", "operation=allreduce 32 B",
                      "operation=allreduce 64 B"}));
}

TEST(Sweep, SizesAreWrittenAsBytesSoThatOneSizeIsOneCell) {
    for (char const* same : {"1K:1K", "1024:1024"}) {
        Options options;
        options.parameters = {{"message-size", {same}}};
        EXPECT_EQ(expand_sweep(collective::type(), options).at(0).parameters.at("message-size"), "1024");
    }
}

constexpr ParameterInfo sized_parameters[] = {{"size", "bytes", "8:16", ParameterKind::sizes}};

TEST(Sweep, APresetMayNameARange) {
    PatternType const sized{"sized",
                            "for tests",
                            sized_parameters,
                            {},
                            R"([{"name": "a", "source": "a book", "parameters": {"size": "1K:2K"}}])",
                            nullptr};
    Options options;
    options.presets = {"a"};
    std::vector<SweepPoint> const points = expand_sweep(sized, options);
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[1].title, "a 2 K");
    EXPECT_EQ(points[1].preset_values.at("size"), "1K:2K");
}

TEST(Sweep, NamesAWrongSizesOptionAndTheNearestPreset) {
    EXPECT_TRUE(usage_error_of([] {
                    (void)titles({{"message-size", {"1MB"}}});
                }).starts_with("--message-size '1MB': "));
    Options options;
    options.presets = {"deepseek-v4"};
    std::string const refused = usage_error_of([&] { (void)expand_sweep(moe_alltoall::type(), options); });
    EXPECT_THAT(refused, HasSubstr("deepseek-v3"));
}

TEST(Sweep, CellsThatTellHowLongOthersComputeComeFirst) {
    Options options;
    options.parameters["operation"] = {"allreduce"};
    options.parameters["message-size"] = {"8:16"};
    options.parameters["compute"] = {"busy", "none"};
    auto const order = [&] {
        std::vector<std::string> found;
        for (SweepPoint const& point :
             with_communication_first(collective::type(), expand_sweep(collective::type(), options))) {
            found.push_back(point.parameters.at("compute") + " " + point.parameters.at("message-size"));
        }
        return found;
    };
    EXPECT_EQ(order(), (std::vector<std::string>{"none 8", "none 16", "busy 8", "busy 16"}));
    options.parameters["compute-us"] = {"50"};
    EXPECT_EQ(order(), (std::vector<std::string>{"busy 8", "busy 16", "none 8", "none 16"})) << "these need not know";
}

}  // namespace
}  // namespace dlmb::run

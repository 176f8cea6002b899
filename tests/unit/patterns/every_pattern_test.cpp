// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold for every pattern of the build, those that do not exist yet included.
#include "common/run/options/options.hpp"
#include "tests/unit/patterns/expected_refusals.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/patterns/registered.hpp"
#include "tests/unit/plan_round_trip.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dlmb {
namespace {

/// Words of the refusal that the table expects; empty: none.
std::string_view expected_refusal(std::string_view pattern, std::string_view preset, int ranks) {
    for (ExpectedRefusal const& row : expected_refusals) {
        bool const covers = std::find(row.ranks.begin(), row.ranks.end(), ranks) != row.ranks.end();
        if (row.pattern == pattern && row.preset == preset && covers) {
            return row.words;
        }
    }
    return "";
}

/// What is wrong with the plans of all ranks, or why there are none; empty: nothing, or the refusal that is expected.
std::string problem_of(PatternType const& type, std::string_view preset, WorldShape const& world) {
    std::string_view const expected = expected_refusal(type.name, preset, world.ranks);
    std::vector<Plan> plans;
    try {
        plans = build_all(*make_pattern(type, preset, quick(type.name), world), world, {});
    } catch (UsageError const& refusal) {
        bool const said = !expected.empty() && std::string_view(refusal.what()).find(expected) != std::string::npos;
        return said ? "" : fmt::format("refused: {}", refusal.what());
    }
    if (!expected.empty()) {
        return fmt::format("not refused, expected '{}'", expected);
    }
    std::string const problem = problem_of(plans);
    return problem.empty() && world == WorldShape{4, 4} ? round_trip_problem(plans) : problem;  // once for each preset
}

TEST(EveryPattern, HasThePresetsThatScriptsRelyOn) {
    std::map<std::string_view, std::vector<std::string_view>> const names{
        {"moe_alltoall",
         {"deepseek-v2-lite", "deepseek-v2", "deepseek-v3", "kimi-k2", "mixtral-8x7b", "mixtral-8x22b", "qwen3-30b-a3b",
          "qwen3-235b-a22b", "qwen3-coder-480b", "llama4-scout", "llama4-maverick", "gpt-oss-20b", "gpt-oss-120b",
          "glm-4.5-air", "switch-base-8", "ds-moe-350m-128", "ds-moe-1.3b-128"}},
        {"dlrm_exchange", {"dlrm-mlperf", "dlrm-dcnv2", "dlrm-random-8x", "dlrm-nccl-example", "dlrm-small"}},
        {"pipeline_p2p",
         {"gpt-19m", "gpt-125m", "gpt-1.3b", "gpt-13b", "llama-7b", "llama-13b", "llama-70b", "gpt3-175b"}},
        {"tp_allreduce",
         {"gpt-19m", "gpt-125m", "gpt-1.3b", "gpt-13b", "llama-7b", "llama-13b", "llama-70b", "gpt3-175b",
          "llama3-405b", "llama-70b-decode", "llama-70b-prefill"}},
        {"dp_gradients",
         {"resnet-50", "gpt-19m", "gpt-125m", "gpt-1.3b", "gpt-13b", "llama-7b", "llama-13b", "llama-70b",
          "llama3-8b"}},
        {"reshard", {"llama3-8b", "llama3-70b", "qwen3-235b-a22b", "deepseek-v3", "kimi-k2"}},
        {"sequence_parallel", {"ulysses-64k", "ulysses-128k", "llama3-8b-ring-128k", "llama3-70b-ring-128k"}}};
    for (auto const& [pattern, expected] : names) {
        std::vector<std::string> present;
        for (Preset const& preset : presets_of(type_named(pattern))) {
            present.push_back(preset.name);
        }
        EXPECT_THAT(present, testing::IsSupersetOf(expected)) << pattern;
    }
}

/// On nodes of four ranks and of eight.
void expect_sound(PatternType const& type, Preset const& preset, std::span<int const> some_ranks) {
    for (int const ranks : some_ranks) {
        for (int const ranks_per_node : {4, 8}) {
            EXPECT_EQ(problem_of(type, preset.name, {ranks, ranks_per_node}), "")
                << type.name << ' ' << preset.name << " at " << ranks << " ranks, " << ranks_per_node << " per node";
        }
    }
}

TEST(EveryPattern, EveryPresetHoldsTogetherOnFewRanksOrIsRefusedWhereExpected) {
    for (PatternType const* type : pattern_types()) {
        for (Preset const& preset : presets_of(*type)) {
            expect_sound(*type, preset, few_ranks);
        }
    }
}

/// Of two patterns on 64 ranks: more patterns and 512 ranks take seconds.
TEST(EveryPattern, PresetsOfTwoPatternsHoldTogetherOnManyRanks) {
    for (std::string_view const pattern : {"tp_allreduce", "dlrm_exchange"}) {
        for (Preset const& preset : presets_of(type_named(pattern))) {
            expect_sound(type_named(pattern), preset, std::span(many_ranks).first<1>());
        }
    }
}

// A preset or a default says 0 for "all ranks": the record has to say what that was.
TEST(EveryPattern, SaysWhatParametersThatLeaveAChoiceAre) {
    struct Resolved {
        std::string_view pattern, name, value;
    };
    WorldShape const world{8, 8};
    for (auto const& [pattern, name, value] :
         {Resolved{"moe_alltoall", "ep", "8"}, Resolved{"tp_allreduce", "tp", "8"}, Resolved{"pipeline_p2p", "pp", "8"},
          Resolved{"dp_gradients", "dp", "8"}, Resolved{"sequence_parallel", "sp", "8"},
          Resolved{"sequence_parallel", "kv-heads", "32"}, Resolved{"dlrm_exchange", "tables", "26"},
          Resolved{"reshard", "tp", "8"}, Resolved{"reshard", "kv-heads", "8"},
          Resolved{"kv_transfer", "prefill-tp", "4"}, Resolved{"kv_transfer", "decode-tp", "4"},
          Resolved{"sparse_allreduce", "k", "104"}}) {  // 0.0001 of 1,048,576
        PatternType const& type = type_named(pattern);
        Parameters const parameters = resolve(type, "", quick(pattern));
        EXPECT_EQ(parameters.find(name)->second, "0") << pattern << " --" << name;
        EXPECT_EQ(type.make(parameters, world)->resolved().at(std::string(name)), value) << pattern << " --" << name;
    }
}

TEST(EveryPattern, IsTheSameWhenItIsGivenWhatItsParametersBecame) {
    WorldShape const world{8, 4};
    auto const expect_same = [&](PatternType const& type, Parameters parameters) {
        auto const pattern = type.make(parameters, world);
        Parameters const resolved = pattern->resolved();
        for (auto const& [name, value] : resolved) {
            ASSERT_EQ(parameters.count(name), 1U) << type.name << " has no --" << name;
            parameters[name] = value;
        }
        auto const again = type.make(parameters, world);
        EXPECT_EQ(again->resolved(), resolved) << type.name;
        EXPECT_EQ(build_one(*again, 5, {}), build_one(*pattern, 5, {})) << type.name;
    };
    for (PatternType const* type : pattern_types()) {
        expect_same(*type, resolve(*type, "", quick(type->name)));
        if (type->name == "pipeline_p2p") {
            expect_same(*type, resolve(*type, "", {{"schedule", "interleaved"}}));
        }
        if (type->name == "dp_gradients") {
            expect_same(*type, resolve(*type, "", {{"scheme", "megatron"}, {"stride", "2"}}));
        }
    }
}

// Presets neither pack nor move rows, nor do they have windows or computations of each kind.
TEST(EveryPattern, PlansOfItsOptionsAreReadBackFromAFile) {
    std::vector<std::pair<std::string_view, Parameters>> const all{
        {"moe_alltoall", {{"tokens", "16"}, {"pack", "host"}, {"direction", "both"}, {"probs", "on"}}},
        {"moe_alltoall", {{"tokens", "16"}, {"pack", "host"}, {"quantize", "mxfp8"}, {"hidden", "64"}}},
        {"moe_alltoall", {{"tokens", "16"}, {"pack", "cuda"}, {"quantize", "int4:32:fp32"}, {"hidden", "64"}}},
        {"moe_alltoall", {{"tokens", "16"}, {"pack", "fused"}, {"skew", "zipf:1"}}},
        {"moe_alltoall", {{"tokens", "16"}, {"wire", "rank_dedup"}, {"quantize", "mxfp4"}}},
        {"dlrm_exchange", {{"pack", "host"}, {"sharding", "mixed"}, {"lookup-ns", "1000"}}},
        {"tp_allreduce", {{"layers", "1"}, {"phase", "decode"}, {"logits", "allgather"}, {"pack", "host"}}},
        {"sequence_parallel", {{"pack", "host"}}},
        {"pipeline_p2p", {{"compute", "gemm"}, {"schedule", "interleaved"}, {"virtual-stages", "2"}}},
        {"collective", {{"operation", "bandwidth"}, {"message-size", "64"}}},
        {"collective", {{"operation", "allgatherv"}, {"message-size", "64"}, {"skew", "zipf:1"}}},
        {"collective", {{"operation", "allreduce"}, {"message-size", "64"}, {"compute", "busy"}, {"compute-us", "9"}}}};
    for (auto const& [name, parameters] : all) {
        WorldShape const world{4, 4};
        PatternType const& type = type_named(name);
        std::vector<Plan> const plans = build_all(*make_pattern(type, "", parameters, world), world, {});
        EXPECT_EQ(round_trip_problem(plans), "") << name;
    }
}

TEST(EveryPattern, DefaultsHoldTogetherOnManyRanksOrAreRefusedWhereExpected) {
    for (PatternType const* type : pattern_types()) {
        for (int const ranks : many_ranks) {
            EXPECT_EQ(problem_of(*type, "", {ranks, 8}), "") << type->name << " at " << ranks << " ranks";
        }
    }
}

/// The only defaults that are refused there: 32 heads on more than 32 ranks.
TEST(EveryPattern, SequenceParallelHoldsTogetherInGroupsOnManyRanks) {
    PatternType const& type = type_named("sequence_parallel");
    for (int const ranks : many_ranks) {
        WorldShape const world{ranks, 8};
        EXPECT_EQ(problem_of(*make_pattern(type, "", {{"sp", "32"}}, world), world), "") << ranks << " ranks";
    }
}

TEST(EveryPattern, EveryExpectedRefusalIsOfALayoutThatIsTried) {
    for (ExpectedRefusal const& row : expected_refusals) {
        std::vector<Preset> const presets = presets_of(type_named(row.pattern));
        EXPECT_TRUE(row.preset.empty() || std::any_of(presets.begin(), presets.end(),
                                                      [&](Preset const& each) { return each.name == row.preset; }))
            << row.pattern << ' ' << row.preset;
        std::span<int const> const tried = row.preset.empty() ? std::span<int const>(many_ranks) : few_ranks;
        for (int const ranks : row.ranks) {
            EXPECT_NE(std::find(tried.begin(), tried.end(), ranks), tried.end())
                << row.pattern << ' ' << row.preset << ": " << ranks << " ranks are not tried";
        }
        EXPECT_FALSE(row.words.empty()) << row.pattern << ' ' << row.preset;
    }
}

TEST(EveryPattern, SaysWhichOperationsAndPhasesItsPlansHoldAndWhetherDrawsDiffer) {
    WorldShape const world{4, 4};
    for (PatternType const* type : pattern_types()) {
        auto const pattern = make_pattern(*type, "", quick(type->name), world);
        std::map<OperationKind, bool> uniform{{OperationKind::compute, true}};
        for (OperationUse const& use : pattern->operations()) {
            uniform[use.kind] = use.uniform;
        }
        for (Plan const& plan : build_all(*pattern, world, {})) {
            for (Step const& step : plan.steps) {
                OperationKind const kind = kind_of(step.operation);
                EXPECT_TRUE(uniform.count(kind) > 0) << type->name << " has " << name_of(kind);
                EXPECT_EQ(std::count(type->phases.begin(), type->phases.end(), phase_of(step.label)), 1)
                    << type->name << ": " << step.label;
                if (auto const* const exchange = std::get_if<Exchange>(&step.operation)) {
                    std::size_t const members = plan.groups[exchange->group].members.size();
                    EXPECT_EQ(uniform[kind], packed(exchange->send, members) && packed(exchange->recv, members))
                        << type->name << ": " << step.label;
                }
            }
        }
        if (!pattern->draws_differ()) {
            EXPECT_EQ(build_one(*pattern, 1, {1, 0}), build_one(*pattern, 1, {1, 1})) << type->name;
        }
    }
}

/// Draws share memory (common/measure/buffers): what one of them delivers to, another one must not send from.
TEST(EveryPattern, PlansOfAllDrawsNameTheSameBuffers) {
    WorldShape const world{4, 4};
    auto const buffers = [](Plan const& plan) {
        std::vector<std::string> names;
        for (Buffer const& buffer : plan.buffers) {
            names.push_back(buffer.name);
        }
        return names;
    };
    for (PatternType const* type : pattern_types()) {
        auto const pattern = make_pattern(*type, "", quick(type->name), world);
        for (std::uint32_t draw = 1; draw < 4; ++draw) {
            EXPECT_EQ(buffers(build_one(*pattern, 1, {1, draw})), buffers(build_one(*pattern, 1, {1, 0})))
                << type->name;
        }
    }
}

/// parse_options() refuses a name that another option has.
TEST(EveryPattern, HasParametersThatCanBeOptions) {
    for (PatternType const* type : pattern_types()) {
        EXPECT_EQ(usage_error_of([&] {
                      (void)run::parse_options(*type, {"program", "--help"});
                  }),
                  "accepted")
            << type->name;
    }
}

}  // namespace
}  // namespace dlmb

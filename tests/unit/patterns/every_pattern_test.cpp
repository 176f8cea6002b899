// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold for every pattern of the build, those that do not exist yet included.
#include "common/base/error.hpp"
#include "common/plan/validate.hpp"
#include "patterns/registry.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace dlmb {
namespace {

/// Fewer tokens cost less time and change no shape.
Parameters quick(PatternType const& type) {
    return type.name == "moe_alltoall" ? Parameters{{"tokens", "32"}} : Parameters{};
}

/// Empty, or what is wrong with the plans of all ranks. A layout that does not fit must be refused with numbers.
std::string problem_of(PatternType const& type, std::string_view preset, Parameters const& overrides,
                       WorldShape const& world) {
    std::vector<Plan> plans;
    try {
        plans = build_all(*type.make(resolve(type, preset, overrides), world), world, {});
    } catch (UsageError const& refusal) {
        std::string_view const text = refusal.what();
        bool const names_numbers = text.find_first_of("0123456789") != std::string_view::npos;
        return names_numbers ? "" : fmt::format("refused without a number: {}", text);
    }
    std::vector<Problem> const problems = validate(plans);
    return problems.empty() ? "" : problems.front().text;
}

TEST(EveryPattern, EveryPresetHoldsTogetherOnFewRanks) {
    for (PatternType const* type : pattern_types()) {
        for (Preset const& preset : presets_of(*type)) {
            for (int const ranks : {1, 2, 3, 4, 6, 8}) {
                EXPECT_EQ(problem_of(*type, preset.name, quick(*type), {ranks, ranks}), "")
                    << type->name << ' ' << preset.name << " at " << ranks << " ranks";
            }
        }
    }
}

TEST(EveryPattern, DefaultsHoldTogetherOnManyRanks) {
    for (PatternType const* type : pattern_types()) {
        Parameters parameters = quick(*type);
        if (type->name == "collective") {
            parameters = {{"message-size", "4096"}};
        }
        for (int const ranks : {64, 512}) {
            EXPECT_EQ(problem_of(*type, "", parameters, {ranks, 8}), "") << type->name << " at " << ranks << " ranks";
        }
    }
}

TEST(EveryPattern, SaysWhichOperationsItsPlansHoldAndWhetherDrawsDiffer) {
    WorldShape const world{4, 4};
    for (PatternType const* type : pattern_types()) {
        Parameters parameters = quick(*type);
        if (type->name == "collective") {
            parameters = {{"message-size", "4096"}};
        }
        auto const pattern = type->make(resolve(*type, "", parameters), world);
        std::set<OperationKind> announced;
        for (OperationUse const& use : pattern->operations()) {
            announced.insert(use.kind);
        }
        for (Plan const& plan : build_all(*pattern, world, {})) {
            for (Step const& step : plan.steps) {
                OperationKind const kind = kind_of(step.operation);
                EXPECT_TRUE(kind == OperationKind::compute || announced.count(kind) > 0)
                    << type->name << " has " << name_of(kind);
            }
        }
        if (!pattern->draws_differ()) {
            EXPECT_EQ(build_one(*pattern, 1, {1, 0}), build_one(*pattern, 1, {1, 1})) << type->name;
        }
    }
}

TEST(EveryPattern, LabelsArePhasesThatItNames) {
    WorldShape const world{4, 4};
    for (PatternType const* type : pattern_types()) {
        Parameters parameters = quick(*type);
        if (type->name == "collective") {
            parameters = {{"message-size", "4096"}};
        }
        for (Plan const& plan : build_all(*type->make(resolve(*type, "", parameters), world), world, {})) {
            for (Step const& step : plan.steps) {
                std::string_view const phase = phase_of(step.label);
                EXPECT_NE(std::find(type->phases.begin(), type->phases.end(), phase), type->phases.end())
                    << type->name << ": " << step.label;
            }
        }
    }
}

}  // namespace
}  // namespace dlmb

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of every pattern, written for other programs and read again: what the format can carry is the same.
#include "common/formats/plan/messages.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/tools/plan/exports/exports.hpp"
#include "common/tools/plan/plans.hpp"
#include "common/tools/plan/read.hpp"
#include "tests/unit/patterns/build_one.hpp"
#include "tests/unit/patterns/registered.hpp"
#include "tests/unit/plan/goal_schedule.hpp"
#include "tests/unit/plan/plan_sets.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

namespace dlmb {
namespace {

/// What plans move, in a form in which two sets of plans can be compared.
struct Moved {
    std::multiset<std::string> collectives;                          // of each rank
    std::map<std::pair<Rank, Rank>, std::multiset<Bytes>> messages;  // from, to; without those to self
    bool operator==(Moved const&) const = default;
};

std::string text_of(Plan const& plan, Operation const& operation) {
    std::string text = fmt::format("{} {} [{}]", plan.me, name_of(operation),
                                   fmt::join(plan.groups[*group_of(operation)].members, " "));
    std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.bytes; }) {
                text += fmt::format(" {} B", step.bytes);
            }
            if constexpr (requires { step.root; }) {
                text += has_root(step.kind) ? fmt::format(" root {}", step.root) : "";
            }
        },
        operation);
    return text;
}

/// `keeps`: the format has this kind of collective; others are their messages. Exchanges are messages in any case.
Moved moved(PlanSource const& plans, std::set<OperationKind> const& keeps) {
    Moved all;
    Messages const messages(plans);
    plans.each([&](Plan const& plan) {
        messages.each(plan, [&](StepId id, std::span<Message const> of_step) {
            Operation const& operation = plan.steps[id].operation;
            if (keeps.contains(kind_of(operation)) && !has_uneven_shares(operation)) {
                all.collectives.insert(text_of(plan, operation));
                return;
            }
            for (Message const& message : of_step) {
                if (message.sends) {
                    all.messages[{plan.me, message.peer}].insert(std::max<Bytes>(message.bytes, 1));
                }
            }
        });
    });
    return all;
}

trace::ExportFormat const& format_named(std::string_view name) {
    for (trace::ExportFormat const& format : trace::all_export_formats()) {
        if (format.name == name) {
            return format;
        }
    }
    throw std::out_of_range(std::string(name));
}

/// Written, and read by the importer.
Moved exported(PlanSource const& plans, std::string_view name, std::set<OperationKind> const& keeps) {
    record::TemporaryFolder const folder;
    (void)format_named(name).write(plans, [&](std::string_view file, std::string_view piece) {
        std::ofstream(folder / std::string(file.empty() ? "file" : file), std::ios::binary | std::ios::app) << piece;
    });
    trace::Trace const trace = trace::read_trace({folder / ""}, {std::string(name), {}});
    EXPECT_TRUE(trace.complete()) << name << ": " << trace.why_not.front();
    return moved(trace::plans_of(trace, {}), keeps);
}

void expect_to_survive(PlanSource const& plans, std::string const& what) {
    using enum OperationKind;
    std::set<OperationKind> const of_astra_sim{all_reduce, all_gather, reduce_scatter};
    EXPECT_EQ(exported(plans, "goal", {}), moved(plans, {})) << what;
    EXPECT_EQ(exported(plans, "chakra", of_astra_sim), moved(plans, of_astra_sim)) << what;
}

TEST(Exports, EveryPatternComesBackAsFarAsTheFormatHoldsIt) {
    WorldShape const world{4, 4};
    for (PatternType const* type : pattern_types()) {
        Parameters const parameters =
            type->name == "kv_transfer" ? Parameters{{"layers", "2"}, {"tokens", "64"}} : quick(type->name);
        auto const plans = build_all(*type->make(resolve(*type, "", parameters), world), world, {});
        expect_to_survive(plans, std::string(type->name));
        test::goal::Schedule const schedule = test::goal::read(test::goal::to_goal(plans));
        EXPECT_EQ(schedule.sent, schedule.received) << type->name;
        EXPECT_FALSE(schedule.sent.empty()) << type->name;
    }
}

TEST(Exports, EveryKindOfOperationComesBackAsFarAsTheFormatHoldsIt) {
    expect_to_survive(test::mixed_plans(), "mixed");
}

TEST(Exports, OnePhaseKeepsTheOrderOfItsSteps) {
    std::vector<Plan> const plans = test::plans_of(1, [](PlanBuilder& builder, GroupId alone) {
        StepId const first = builder.barrier(alone, "a.1");
        StepId const between = builder.barrier(alone, "b", {first});
        StepId const other = builder.barrier(alone, "a.2", {first});
        builder.barrier(alone, "a.3", {between, other});
    });
    Plan const phase = trace::only_phase(PlanSource(plans), "a").of(0);
    ASSERT_EQ(phase.steps.size(), 3U);
    EXPECT_EQ(phase.steps[1].after, (std::vector<StepId>{0}));
    EXPECT_EQ(phase.steps[2].after, (std::vector<StepId>{0, 1}));
}

}  // namespace
}  // namespace dlmb

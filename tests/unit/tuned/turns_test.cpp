// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"
#include "common/base/clock.hpp"
#include "tests/unit/in_process/count_allocations.hpp"
#include "tests/unit/tuned/tuned_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace dlmb::tuned::testing::turns_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// Two small collectives, a large one after them, a small one after that: three turns.
Plan three_turns(Rank me, int ranks) {
    PlanBuilder builder(me);
    GroupId const all = builder.group(everyone(ranks));
    Bytes const large = 4096 * static_cast<Bytes>(ranks);
    StepId const sum = builder.all_reduce(all, 64, Element::int32, Reduction::sum, "small.sum");
    StepId const root = builder.broadcast(all, 0, 100, Element::byte, "small.broadcast");
    StepId const gathered = builder.all_gather(all, large, Element::byte, "large", {sum, root});
    builder.all_reduce(all, 128, Element::fp32, Reduction::max, "small.again", {gathered});
    return std::move(builder).finish();
}

TEST(TunedTurns, TwoBackendsTakeTurnsAndEveryByteIsRight) {
    run_tuned_ranks(3, by_size, [](TunedRank& rank) { run_checked(rank, three_turns(rank.rank(), 3), 20); });
}

TEST(TunedTurns, RowsAreMovedByTheProcessorOfTheBackendThatTheirStepsAreOn) {
    auto const all_on = [](char const* backend) {
        return [backend](tuning::Key const&) { return StepChoice{backend}; };
    };
    auto const plan_of = [](TunedRank const& rank, Processor by) {
        PlanBuilder builder(rank.rank());
        std::uint64_t const peer = rank.rank() == 0 ? 1 : 0;
        RowOrder const turned{2, {1, 1}, {{.tensor = 1 - peer, .packed = 0}, {.tensor = peer, .packed = 1}}};
        builder.rearranged_exchange(builder.group(everyone(2)), turned, turned, 8, by, "dispatch");
        return std::move(builder).finish();
    };
    for (auto const& [name, by, other] : {std::tuple("first", Processor::host, Processor::device),
                                          std::tuple("second", Processor::device, Processor::host)}) {
        run_tuned_ranks(2, all_on(name), [&, other = other](TunedRank& rank) {
            EXPECT_EQ(rank.backend().computes_in(MemoryKind::host), std::nullopt);
            auto const refused = rank.compile(plan_of(rank, other));
            ASSERT_FALSE(refused);
            EXPECT_THAT(refused.error().reason, HasSubstr("\"pack.dispatch\" is done by"));
        });
        run_tuned_ranks(2, all_on(name), [&, by = by](TunedRank& rank) {
            Plan const plan = plan_of(rank, by);
            EXPECT_EQ(why_no_rearrangement(plan, rank.backend(), MemoryKind::host), "") << "compile() decides";
            run_checked(rank, plan);
        });
    }
}

TEST(TunedTurns, WhatIsPackedIsPackedWhereItIsSent) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        PlanBuilder builder(rank.rank());
        GroupId const all = builder.group(everyone(2));
        StepId const counts = builder.all_reduce(all, 64, Element::int32, Reduction::sum, "counts");
        RowOrder const turned{2, {1, 1}, {{.tensor = 1, .packed = 0}, {.tensor = 0, .packed = 1}}};
        StepId const moved =
            builder.rearranged_exchange(all, turned, turned, 1024, Processor::device, "rows", {counts});
        builder.all_reduce(all, 64, Element::int32, Reduction::sum, "counts.again", {moved});
        // The first backend has no device.
        EXPECT_EQ(run_checked(rank, std::move(builder).finish()).at("tuned_parts"), "3");
    });
}

TEST(TunedTurns, ALaunchThatCompletesTurnsBlocks) {
    auto const all_first = [](tuning::Key const&) { return StepChoice{"first"}; };
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        EXPECT_TRUE(std::move(rank.compile(three_turns(rank.rank(), 2))).value()->launch_blocks());
    });
    run_tuned_ranks(2, all_first, [](TunedRank& rank) {
        EXPECT_FALSE(std::move(rank.compile(three_turns(rank.rank(), 2))).value()->launch_blocks());
    });
}

TEST(TunedTurns, ABackendIsQuiescedBeforeTheNextOneStartsAndNotWithoutNeed) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        auto const compiled = std::move(rank.compile(three_turns(rank.rank(), 2))).value();
        rank.backend().quiesce();
        rank.protocol().clear();
        for (int iteration = 0; iteration < 2; ++iteration) {
            compiled->launch();
            compiled->finish();
        }
        rank.backend().quiesce();
        rank.backend().quiesce();  // nothing is left to quiesce
        EXPECT_THAT(rank.protocol(), ElementsAre("launch first", "quiesce first", "launch second", "quiesce second",
                                                 "launch first", "launch first", "quiesce first", "launch second",
                                                 "quiesce second", "launch first", "quiesce first"));
    });
}

TEST(TunedTurns, AnUnknownMethodAndAKnobAreRefused) {
    run_tuned_ranks(2, by_size, [&](TunedRank& rank) {
        EXPECT_THROW((void)rank.compile(three_turns(rank.rank(), 2), {"table", {{"knob", "1"}}}), UsageError);
        EXPECT_THROW((void)rank.compile(three_turns(rank.rank(), 2), {"path", {}}), UsageError);
    });
}

TEST(TunedTurns, PlansThatEndOnAnotherBackendThanTheNextOneBeginsOnAreKeptApart) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        auto const one = [&](Bytes bytes) {
            PlanBuilder builder(rank.rank());
            builder.all_reduce(builder.group(everyone(2)), bytes, Element::int32, Reduction::sum, "sum");
            return std::move(rank.compile(std::move(builder).finish())).value();
        };
        auto const small = one(64);
        auto const large = one(4096);
        rank.backend().quiesce();
        rank.protocol().clear();
        for (CompiledPlan* plan : {small.get(), large.get(), small.get()}) {
            plan->launch();
            plan->finish();
        }
        EXPECT_THAT(rank.protocol(),
                    ElementsAre("launch first", "quiesce first", "launch second", "quiesce second", "launch first"));
    });
}

TEST(TunedTurns, TheHotPathAllocatesNothing) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        auto const compiled = std::move(rank.compile(three_turns(rank.rank(), 2))).value();
        compiled->launch();
        compiled->finish();
        // The protocol of the doubles is not the backend's: its texts are longer than a string keeps in itself.
        std::uint64_t const of_protocol = [&] {
            std::uint64_t const before = in_process::testing::allocations_of_this_thread();
            Protocol const copy(rank.protocol().end() - 5, rank.protocol().end());
            return in_process::testing::allocations_of_this_thread() - before - 1;
        }();
        std::uint64_t const before = in_process::testing::allocations_of_this_thread();
        compiled->launch();
        compiled->finish();
        EXPECT_EQ(in_process::testing::allocations_of_this_thread() - before, of_protocol);
    });
}

TEST(TunedTurns, StepsAreMarkedWhenTheyAreCompleteAndInOrderOfTurns) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        auto const compiled = std::move(rank.compile(three_turns(rank.rank(), 2))).value();
        for (int iteration = 0; iteration < 2; ++iteration) {
            Nanoseconds last = now_ns();
            compiled->launch();
            compiled->finish();
            Nanoseconds const end = now_ns();
            EXPECT_EQ(compiled->steps_done(), 4U);
            auto const marks = compiled->marks();
            ASSERT_EQ(marks.size(), 4U);
            EXPECT_LT(marks[0].step, 2U);
            EXPECT_LT(marks[1].step, 2U);
            EXPECT_NE(marks[0].step, marks[1].step);
            EXPECT_EQ(marks[2].step, 2U);
            EXPECT_EQ(marks[3].step, 3U);
            EXPECT_EQ(marks[3].time_ns, PhaseMark::at_finish);
            for (PhaseMark const& mark : marks.first(3)) {
                EXPECT_LE(last, mark.time_ns + 1000);  // two clocks; see TickScale
                EXPECT_LE(mark.time_ns, end + 1000);
                last = mark.time_ns;
            }
        }
    });
}

Provenance facts_of_four_iterations(TunedRank& rank) {
    auto const compiled = std::move(rank.compile(three_turns(rank.rank(), 2))).value();
    rank.backend().quiesce();
    for (int iteration = 0; iteration < 4; ++iteration) {
        compiled->launch();
        compiled->finish();
    }
    return compiled->provenance();
}

TEST(TunedTurns, TheRecordSaysRulesSwitchesAndDigest) {
    run_tuned_ranks(2, by_size, [](TunedRank& rank) {
        Provenance const facts = facts_of_four_iterations(rank);
        EXPECT_EQ(facts.at("tuned_steps"), "0-1:first/default:small 2:second/default:large 3:first/default:small");
        EXPECT_EQ(facts.at("tuned_switches_per_iteration"), "2.00");
        EXPECT_NE(facts.at("tuned_quiesce_ns_per_iteration"), "0");
        EXPECT_THAT(rank.backend().provenance(),
                    ::testing::IsSupersetOf({Pair("tuning_table_sha256", "same"),
                                             Pair("tuned_backends", "first second"), Pair("second.double", "second")}));
    });
}

TEST(TunedTurns, AChangeOfContextInsideABackendIsCountedAndTimed) {
    auto const by_context = [](tuning::Key const& step) {
        MethodChoice method;
        method.knobs["context"] = *step.bytes < 1024 ? "" : "late";
        return StepChoice{"first", method, "rule"};
    };
    run_tuned_ranks(2, by_context, [](TunedRank& rank) {
        Provenance const facts = facts_of_four_iterations(rank);
        EXPECT_EQ(facts.at("tuned_parts"), "3");
        EXPECT_EQ(facts.at("tuned_switches_per_iteration"), "2.00");
        EXPECT_NE(facts.at("tuned_quiesce_ns_per_iteration"), "0");
    });
}

}  // namespace
}  // namespace dlmb::tuned::testing::turns_test

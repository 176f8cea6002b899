// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cells on backends that deliver wrong bytes or fail: caught, named, no times, the other cells go on.
#include "common/measure/cell_run.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace dlmb::measure {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_invalid(std::vector<std::vector<Told>> const& told, std::vector<std::string> const& named) {
    for (auto const& rank : told) {
        ASSERT_EQ(rank.size(), 1U);
        record::CellResult const& result = rank[0].result;
        EXPECT_EQ(result.status, record::Status::invalid);
        EXPECT_EQ(result.validation.verdict, record::Verdict::failed);
        for (std::string const& text : named) {
            EXPECT_THAT(result.reason, HasSubstr(text));
        }
        EXPECT_TRUE(result.samples_ns.empty());
        EXPECT_TRUE(result.phases.empty());
        EXPECT_EQ(result.time.samples, 0U);
        EXPECT_EQ(result.time.median, 0);
        EXPECT_EQ(result.first_iteration_ns, 0);
    }
}

TEST(Faults, ACorruptedByteIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(corrupted_byte(1, "dispatch", 2))}}),
                   {"before timing", "draw 0", "rank 1:", "\"dispatch\"", "block from rank 2", "byte 100"});
}

TEST(Faults, ASwappedBlockIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(swapped_blocks(3, "combine.node", 0, 1))}}),
                   {"before timing", "draw 0", "rank 3:", "\"combine.node\"", "block from rank 0", "byte 0"});
}

TEST(Faults, AShortMessageIsCaughtAndNamed) {
    expect_invalid(run({.options = brief(), .cells = {with(short_message(2, "dispatch", 0))}}),
                   {"before timing", "draw 0", "rank 2:", "\"dispatch\"", "block from rank 0", "byte 240"});
}

// Iterations 0 and 1 are the checks before timing, 2 .. 7 the samples, two in each round, 8 and 9 the checks after.
TEST(Faults, ABackendThatStartsToFailWhileTimedHasNoTimes) {
    expect_invalid(run({.options = brief(), .cells = {with(corrupted_byte(0, "dispatch", 3, 5))}}),
                   {"while timing, in round 2", "draw 1", "rank 0:", "block from rank 3"});
}

/// Every rank puts a block into the next one's memory.
Plan ring_of_puts(Rank me, int ranks, std::uint32_t /*draw*/) {
    PlanBuilder builder(me);
    GroupId const group = builder.group(world_of(ranks));
    std::vector<PlacedBytes> const block{{64, 4096}};
    builder.put(group, {{(me + 1) % ranks, 1}}, block, "dispatch.put");
    builder.wait_signal(group, {{(me + ranks - 1) % ranks, 1}}, block, 0, "dispatch.wait");
    return std::move(builder).finish();
}

// All bytes are there when the iteration ends.
TEST(Faults, DataThatComeBehindTheirSignalAreCaughtAndNamed) {
    Fault late;
    late.data_are_late = true;
    expect_invalid(run({.plan = ring_of_puts, .options = brief(), .cells = {with(late)}}),
                   {"before timing", "\"dispatch.wait\"", "block from rank", "its signal had come already"});
    auto const in_time = run({.plan = ring_of_puts, .options = brief(), .cells = {without_fault()}});
    EXPECT_EQ(in_time[0][0].result.status, record::Status::ok) << in_time[0][0].result.reason;
}

/// 120 samples in six rounds of 20 behind one check, of which iterations `first` .. `last` are struck on rank 1.
std::vector<std::vector<Told>> struck_in_rounds(std::function<Fault(Rank, std::uint64_t, std::uint64_t)> const& fault,
                                                std::uint64_t slots, std::uint64_t first, std::uint64_t last) {
    RunnerOptions options = brief();
    options.iterations = 120;
    return run({.plan = one_phase_plan,
                .draws = 1,
                .slots = slots,
                .options = options,
                .cells = {with(fault(1, first, last))}});
}

/// The second and the third round.
std::vector<std::vector<Told>> two_struck_rounds(std::function<Fault(Rank, std::uint64_t, std::uint64_t)> const& fault,
                                                 std::uint64_t slots) {
    return struck_in_rounds(fault, slots, 1 + 20, 1 + 59);
}

std::function<Fault(Rank, std::uint64_t, std::uint64_t)> strike(std::function<void(Iteration const&)> const& what) {
    return [what](Rank victim, std::uint64_t first, std::uint64_t last) { return struck(victim, first, last, what); };
}

// None of these is seen by the checks before and after timing.
TEST(FaultsWhileTimed, ThatLastForAWholeRoundAreCaught) {
    auto const flip = strike([](Iteration const& iteration) { received(iteration, "dispatch", 2)[9] ^= std::byte{1}; });
    auto const swap = strike([](Iteration const& iteration) {
        std::span<std::byte> const a = received(iteration, "dispatch", 0);
        std::swap_ranges(a.begin(), a.end(), received(iteration, "dispatch", 2).begin());
    });
    auto const overrun = strike([](Iteration const& iteration) {
        std::span<std::byte> const last = received(iteration, "dispatch.node", 3);
        last.data()[last.size()] = std::byte{0x5A};
    });
    auto const underrun =
        strike([](Iteration const& iteration) { *(received(iteration, "dispatch", 0).data() - 1) = std::byte{0x5A}; });
    auto const own_data = strike([](Iteration const& iteration) {
        Exchange const& exchange = exchange_of(iteration.plan, "dispatch");
        iteration.buffers.base[exchange.send_buffer][exchange.send[2].offset + 5] = std::byte{0x5A};
    });
    for (std::uint64_t const slots : {1U, 4U}) {
        expect_invalid(two_struck_rounds(flip, slots), {"while timing, in round 2", "rank 1:", "byte 9"});
        expect_invalid(two_struck_rounds(swap, slots), {"while timing, in round 2", "rank 1:", "block from rank 0"});
        expect_invalid(two_struck_rounds(overrun, slots), {"while timing, in round 2", "1 byte behind the block"});
        expect_invalid(two_struck_rounds(underrun, slots), {"while timing, in round 2", "in front of the block"});
        expect_invalid(two_struck_rounds(nothing_delivered, slots),
                       {"while timing, in round 2", "nothing was written"});
        expect_invalid(two_struck_rounds(own_data, slots),
                       {"while timing, in round 2", "what this rank sends was changed"});
    }
}

// Of 20 samples in a round two are checked with four slots, one with one slot.
TEST(FaultsWhileTimed, ThatStrikeOnceAreCaughtAsOftenAsIterationsAreChecked) {
    auto const flip =
        strike([](Iteration const& iteration) { received(iteration, "dispatch.node", 2)[9] ^= std::byte{1}; });
    auto const caught_of_all = [](std::uint64_t slots, unsigned checked, auto const& fault) {
        unsigned caught = 0;
        for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
            constexpr std::uint64_t second_round = 1 + 20;
            auto const told = struck_in_rounds(fault, slots, second_round + iteration, second_round + iteration);
            caught += told[0][0].result.status == record::Status::invalid ? 1U : 0U;
            EXPECT_TRUE(told[0][0].result.status == record::Status::invalid ||
                        told[0][0].result.validation.timed_checked == 6 * checked);
        }
        return caught;
    };
    EXPECT_EQ(caught_of_all(1, 1, nothing_delivered), 1U);
    EXPECT_EQ(caught_of_all(4, 2, nothing_delivered), 2U);
    EXPECT_EQ(caught_of_all(4, 2, flip), 2U);
}

Plan sum_in_place(Rank me, int ranks, std::uint32_t /*draw*/) {
    PlanBuilder builder(me);
    builder.in_place(true);
    builder.all_reduce(builder.group(world_of(ranks)), 1024, Element::fp32, Reduction::sum, "dispatch");
    return std::move(builder).finish();
}

Fault wrong_sum(Rank victim, std::uint64_t first, std::uint64_t last) {
    return struck(victim, first, last, [](Iteration const& iteration) {
        auto const& sum = std::get<Collective>(iteration.plan.steps.at(0).operation);
        iteration.buffers.base[sum.recv.buffer][sum.recv.offset + 513] ^= std::byte{0x40};
    });
}

TEST(FaultsWhileTimed, OfSumsInPlaceAreCaughtWhereIterationsAreTimedOneByOneInSeveralSlots) {
    RunnerOptions options = brief();
    options.iterations = 120;
    for (std::uint64_t const slots : {1U, 4U}) {
        RunSpec spec{.plan = sum_in_place, .draws = 1, .slots = slots, .options = options, .cells = {without_fault()}};
        record::CellResult const clean = run(spec)[0][0].result;
        EXPECT_EQ(clean.status, record::Status::ok) << clean.reason;
        EXPECT_EQ(clean.validation.timed_checked, slots == 1 ? 6U : 12U);
        spec.cells = {with(wrong_sum(1, 1 + 20, 1 + 39))};
        expect_invalid(run(spec), {"while timing, in round 2", "rank 1:", "byte 513"});
    }
}

Fault sum_not_delivered(Rank victim, std::uint64_t first, std::uint64_t last) {
    auto const kept = std::make_shared<std::vector<std::byte>>();
    Fault fault = struck(victim, first, last, [kept](Iteration const& iteration) {
        auto const& sum = std::get<Collective>(iteration.plan.steps.at(0).operation);
        std::copy(kept->begin(), kept->end(), iteration.buffers.base[sum.recv.buffer] + sum.recv.offset);
    });
    fault.before = [kept, victim](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            auto const& sum = std::get<Collective>(iteration.plan.steps.at(0).operation);
            std::byte const* const data = iteration.buffers.base[sum.recv.buffer] + sum.recv.offset;
            kept->assign(data, data + sum.bytes);
        }
    };
    return fault;
}

TEST(FaultsWhileTimed, OfSumsInPlaceAreCaughtHoweverOftenTheyAreSummedUpAgain) {
    RunSpec spec{.plan = sum_in_place, .draws = 1, .options = brief(), .cells = {without_fault()}};
    spec.options.iterations = 120;
    spec.options.cache = record::CacheMode::warm;
    record::CellResult const warm = run(spec)[0][0].result;
    EXPECT_EQ(warm.status, record::Status::ok) << warm.reason;
    EXPECT_EQ(warm.validation.timed_checked, 6U);
    // Any single iteration of the second round, as what is wrong is summed up further.
    for (std::uint64_t const iteration : {1 + 20U, 1 + 30U, 1 + 39U}) {
        spec.cells = {with(wrong_sum(1, iteration, iteration))};
        expect_invalid(run(spec), {"while timing, in round 2", "element 128"});
    }
    spec.cells = {with(sum_not_delivered(1, 1 + 20, 1 + 39))};
    expect_invalid(run(spec), {"while timing, in round 2", "element 0"});
}

TEST(FaultsWhileTimed, OfReducesInPlaceThatAreRepeatedAreNotLookedForAndTheRecordSaysSo) {
    RunSpec spec{.draws = 1, .options = brief(), .cells = {without_fault()}};
    spec.plan = [](Rank me, int ranks, std::uint32_t /*draw*/) {
        PlanBuilder builder(me);
        builder.in_place(true);
        builder.reduce(builder.group(world_of(ranks)), 0, 1024, Element::fp32, Reduction::sum, "dispatch");
        return std::move(builder).finish();
    };
    spec.options.iterations = 120;
    spec.options.cache = record::CacheMode::warm;
    record::CellResult const warm = run(spec)[0][0].result;
    EXPECT_EQ(warm.status, record::Status::ok) << warm.reason;
    EXPECT_EQ(warm.validation.timed_checked, 0U);
}

TEST(FaultsWhileTimed, OfAMaximumInPlaceAreCaughtHoweverOftenItIsTaken) {
    RunSpec spec{.draws = 1, .options = brief(), .cells = {without_fault()}};
    spec.plan = [](Rank me, int ranks, std::uint32_t /*draw*/) {
        PlanBuilder builder(me);
        builder.in_place(true);
        builder.all_reduce(builder.group(world_of(ranks)), 1024, Element::fp32, Reduction::max, "dispatch");
        return std::move(builder).finish();
    };
    spec.options.iterations = 120;
    spec.options.cache = record::CacheMode::warm;
    EXPECT_EQ(run(spec)[0][0].result.validation.timed_checked, 6U);
    spec.cells = {with(wrong_sum(1, 1 + 20, 1 + 39))};
    expect_invalid(run(spec), {"while timing, in round 2", "byte 513"});
}

TEST(FaultsWhileTimed, AreNotLookedForWhereNothingIsSent) {
    RunSpec spec{.draws = 1, .options = brief(), .cells = {without_fault()}};
    spec.plan = [](Rank me, int ranks, std::uint32_t /*draw*/) {
        PlanBuilder builder(me);
        builder.barrier(builder.group(world_of(ranks)), "barrier");
        return std::move(builder).finish();
    };
    record::CellResult const result = run(spec)[0][0].result;
    EXPECT_EQ(result.status, record::Status::ok) << result.reason;
    EXPECT_FALSE(result.validation.timed_checked.has_value());
}

TEST(FaultsWhileTimed, OfZerosAreCaughtButForBlocksInEachOthersPlace) {
    RunnerOptions options = brief();
    options.iterations = 120;
    options.fill = record::Fill::zeros;
    constexpr std::uint64_t begin = 1 + 20;
    constexpr std::uint64_t end = 1 + 39;
    auto const flip = struck(1, begin, end,
                             [](Iteration const& iteration) { received(iteration, "dispatch", 2)[9] ^= std::byte{1}; });
    auto const own_data = struck(1, begin, end, [](Iteration const& iteration) {
        Exchange const& exchange = exchange_of(iteration.plan, "dispatch");
        iteration.buffers.base[exchange.send_buffer][exchange.send[2].offset + 5] = std::byte{0x5A};
    });
    auto const run_with = [&](std::uint64_t slots, Fault const& fault) {
        return run({.plan = one_phase_plan, .draws = 1, .slots = slots, .options = options, .cells = {with(fault)}});
    };
    for (std::uint64_t const slots : {1U, 4U}) {
        record::CellResult const clean = run_with(slots, Fault{})[0][0].result;
        EXPECT_EQ(clean.status, record::Status::ok) << clean.reason;
        EXPECT_EQ(clean.validation.timed_checked, slots == 1 ? 6U : 12U);
        expect_invalid(run_with(slots, flip), {"while timing, in round 2", "rank 1:", "byte 9 of 256 is 0x01"});
        expect_invalid(run_with(slots, nothing_delivered(1, begin, end)), {"round 2", "nothing was written there"});
        expect_invalid(run_with(slots, own_data), {"round 2", "what this rank sends: byte 5", "0x5a"});
    }
}

TEST(FaultsWhileTimed, OfBuffersThatSeveralDrawsShareAreCaughtInWhatArrives) {
    RunnerOptions options = brief();
    options.iterations = 120;
    auto const flip = [](Iteration const& iteration) { received(iteration, "dispatch", 2)[9] ^= std::byte{1}; };
    expect_invalid(
        run({.plan = one_phase_plan, .draws = 4, .options = options, .cells = {with(struck(1, 4 + 20, 4 + 59, flip))}}),
        {"while timing, in round 2", "rank 1:", "byte 9"});
}

TEST(FaultsWhileTimed, ALibraryThatChangesWhatItSendsIsCaughtBeforeTiming) {
    auto const fault = strike([](Iteration const& iteration) {
        Exchange const& exchange = exchange_of(iteration.plan, "dispatch");
        iteration.buffers.base[exchange.send_buffer][exchange.send[2].offset + 5] = std::byte{0x5A};
    })(1, 0, 1000);
    expect_invalid(run({.options = brief(), .cells = {with(fault)}}),
                   {"before timing", "rank 1:", "what this rank sends was changed: byte 5"});
}

constexpr std::uint32_t highest = 0xFFFFFFFF;

std::vector<std::uint64_t> places(std::vector<CheckedIteration> const& checked) {
    std::vector<std::uint64_t> positions;
    for (CheckedIteration const& each : checked) {
        positions.push_back(each.position);
    }
    return positions;
}

TEST(ChooseChecked, TakesLastIterationsInTheirSlots) {
    using Positions = std::vector<std::uint64_t>;
    EXPECT_EQ(places(choose_checked(0, {.first = 0, .count = 16}, 1, 4, 1)), Positions{0});        // iteration 12
    EXPECT_EQ(places(choose_checked(highest, {.first = 0, .count = 16}, 1, 4, 1)), Positions{3});  // iteration 15
    EXPECT_EQ(places(choose_checked(0, {.first = 5, .count = 16}, 8, 1, 1)), Positions{4});        // 20 runs draw 4
    EXPECT_TRUE(choose_checked(0, {.first = 0, .count = 16}, 1, 4, 1)[0].age.repeated);
    EXPECT_FALSE(choose_checked(0, {.first = 0, .count = 4}, 1, 4, 1)[0].age.repeated);
    EXPECT_TRUE(choose_checked(highest, {.first = 0, .count = 4, .unrecorded = 1}, 1, 4, 1)[0].age.repeated);
    EXPECT_FALSE(choose_checked(0, {.first = 0, .count = 16}, 1, 4, 1)[0].age.other_plans);
    EXPECT_TRUE(choose_checked(0, {.first = 0, .count = 16}, 8, 4, 1)[0].age.other_plans);
}

TEST(ChooseChecked, LeavesHalfOfTheSlotsToBeUsedBeforeAndTakesNoMoreThanTheOtherHalf) {
    using Positions = std::vector<std::uint64_t>;
    EXPECT_EQ(places(choose_checked(0, {.first = 0, .count = 8}, 1, 8, 100)), (Positions{4, 5, 6, 7}));
    EXPECT_EQ(places(choose_checked(highest, {.first = 0, .count = 8}, 1, 8, 3)), (Positions{7, 4, 5}));
    EXPECT_EQ(places(choose_checked(0, {.first = 3, .count = 5, .unrecorded = 3}, 1, 8, 100)), (Positions{4, 5, 6, 7}));
    EXPECT_EQ(places(choose_checked(0, {.first = 0, .count = 2}, 1, 8, 100)), Positions{1});  // as late as there is one
    EXPECT_EQ(places(choose_checked(0, {.first = 0, .count = 1}, 1, 1, 100)), Positions{0});
}

TEST(ChunkParts, UseNoSlotTwiceWhereTheyAreChecked) {
    using ChunkParts = std::vector<ChunkPart>;
    EXPECT_EQ(parts_of_chunk(0, 16, 3, 4), (ChunkParts{{1, 3, true}, {15, 3, false}}));
    EXPECT_EQ(parts_of_chunk(highest, 16, 3, 4), (ChunkParts{{15, 3, false}, {1, 3, true}}));
    EXPECT_EQ(parts_of_chunk(highest / 2, 16, 0, 8), (ChunkParts{{4, 0, false}, {8, 0, true}, {4, 0, false}}));
    EXPECT_EQ(parts_of_chunk(highest, 16, 3, 32), (ChunkParts{{16, 3, true}}));
    EXPECT_EQ(parts_of_chunk(0, 16, 3, 1), (ChunkParts{{1, 0, true}, {15, 3, false}}));
}

TEST(Faults, TheOtherCellsKeepTheirTimes) {
    auto const told =
        run({.options = brief(), .cells = {without_fault(), with(corrupted_byte(1, "dispatch", 2)), without_fault()}});
    ASSERT_EQ(told[0].size(), 3U);
    EXPECT_EQ(told[0][0].cell, 1U);
    EXPECT_EQ(told[0][0].result.status, record::Status::invalid);
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_EQ(told[0][i].result.status, record::Status::ok);
        EXPECT_EQ(told[0][i].result.samples_ns.size(), 6U);
    }
}

TEST(Faults, ATransportThatGivesUpCountsAsStandingStill) {
    Fault fault;
    fault.before = [](Iteration const& iteration) {
        if (iteration.plan.me == 2 && iteration.number == 4) {
            throw TimeoutError("gave up");
        }
    };
    std::promise<std::string> cell;
    EXPECT_THROW((void)run({.options = brief(),
                            .cells = {with(fault)},
                            .hang = [&](HangReport const& hang) { cell.set_value(std::string(hang.cell)); }}),
                 Error);
    EXPECT_EQ(cell.get_future().get(), "cell 0");
}

TEST(Faults, AFaultOnOneRankEndsTheRunOnAll) {
    for (std::uint64_t const iteration : {0U, 4U}) {
        std::promise<record::CellResult> told;
        auto const finished = [&](Rank rank, record::CellResult const& result) {
            if (rank == 2) {
                told.set_value(result);
            }
        };
        try {
            (void)run({.options = brief(), .cells = {with(throwing_rank(2, iteration))}, .finished = finished});
            ADD_FAILURE() << "the run went on";
        } catch (Error const& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 2"), HasSubstr("injected fault of a library call")));
        }
        record::CellResult const result = told.get_future().get();
        EXPECT_EQ(result.status, record::Status::failed);
        EXPECT_THAT(result.reason, HasSubstr("injected fault of a library call"));
    }
}

}  // namespace
}  // namespace dlmb::measure

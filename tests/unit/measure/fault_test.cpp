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

/// 120 samples in six rounds of 20 behind one check.
RunSpec six_rounds(std::uint64_t slots = 1) {
    RunSpec spec{.plan = one_phase_plan, .draws = 1, .slots = slots, .options = brief(), .cells = {without_fault()}};
    spec.options.iterations = 120;
    return spec;
}
constexpr std::uint64_t second_round = 1 + 20;
constexpr std::uint64_t second_round_end = second_round + 19;

std::vector<std::vector<Told>> run_with(RunSpec spec, Fault const& fault) {
    spec.cells = {with(fault)};
    return run(spec);
}

/// How many of its iterations were checked while it was timed; nothing: none could be.
std::optional<std::uint64_t> checked_of_clean(RunSpec const& spec) {
    record::CellResult const result = run(spec)[0][0].result;
    EXPECT_EQ(result.status, record::Status::ok) << result.reason;
    return result.validation.timed_checked;
}

using Strike = std::function<void(Iteration const&)>;
Strike const flip = [](Iteration const& iteration) { received(iteration, "dispatch", 2)[9] ^= std::byte{1}; };
Strike const change_own_data = [](Iteration const& iteration) {
    Exchange const& exchange = exchange_of(iteration.plan, "dispatch");
    iteration.buffers.base[exchange.send_buffer][exchange.send[2].offset + 5] = std::byte{0x5A};
};

// None of these is seen by the checks before and after timing.
TEST(FaultsWhileTimed, ThatLastForAWholeRoundAreCaught) {
    Strike const swap = [](Iteration const& iteration) {
        std::span<std::byte> const a = received(iteration, "dispatch", 0);
        std::swap_ranges(a.begin(), a.end(), received(iteration, "dispatch", 2).begin());
    };
    Strike const overrun = [](Iteration const& iteration) {
        std::span<std::byte> const last = received(iteration, "dispatch.node", 3);
        last.data()[last.size()] = std::byte{0x5A};
    };
    Strike const underrun = [](Iteration const& iteration) {
        *(received(iteration, "dispatch", 0).data() - 1) = std::byte{0x5A};
    };
    constexpr std::uint64_t third_round_end = second_round_end + 20;
    for (std::uint64_t const slots : {1U, 4U}) {
        auto const expect_said = [&](Fault const& fault, std::string const& said) {
            expect_invalid(run_with(six_rounds(slots), fault), {"while timing, in round 2", "rank 1:", said});
        };
        for (auto const& [strike, said] :
             {std::pair{flip, "byte 9"}, std::pair{swap, "block from rank 0"},
              std::pair{overrun, "1 byte behind the block"}, std::pair{underrun, "in front of the block"},
              std::pair{change_own_data, "what this rank sends was changed"}}) {
            expect_said(struck(1, second_round, third_round_end, strike), said);
        }
        expect_said(nothing_delivered(1, second_round, third_round_end), "nothing was written");
    }
}

// Of 20 samples in a round two are checked with four slots, one with one slot.
TEST(FaultsWhileTimed, ThatStrikeOnceAreCaughtAsOftenAsIterationsAreChecked) {
    auto const caught_of_all = [](std::uint64_t slots, unsigned checked, auto const& fault_at) {
        unsigned caught = 0;
        for (std::uint64_t iteration = second_round; iteration <= second_round_end; ++iteration) {
            record::CellResult const result = run_with(six_rounds(slots), fault_at(iteration))[0][0].result;
            bool const invalid = result.status == record::Status::invalid;
            caught += invalid ? 1U : 0U;
            EXPECT_TRUE(invalid || result.validation.timed_checked == 6 * checked);
        }
        return caught;
    };
    auto const lost = [](std::uint64_t iteration) { return nothing_delivered(1, iteration, iteration); };
    auto const flipped = [](std::uint64_t iteration) { return struck(1, iteration, iteration, flip); };
    EXPECT_EQ(caught_of_all(1, 1, lost), 1U);
    EXPECT_EQ(caught_of_all(4, 2, lost), 2U);
    EXPECT_EQ(caught_of_all(4, 2, flipped), 2U);
}

/// One reduction of 1024 B of fp32 in place.
RunSpec rounds_in_place(OperationKind kind, Reduction reduction, record::CacheMode cache, std::uint64_t slots = 1) {
    RunSpec spec = six_rounds(slots);
    spec.options.cache = cache;
    spec.plan = [=](Rank me, int ranks, std::uint32_t /*draw*/) {
        PlanBuilder builder(me);
        builder.in_place(true);
        GroupId const all = builder.group(world_of(ranks));
        if (kind == OperationKind::reduce) {
            builder.reduce(all, 0, 1024, Element::fp32, reduction, "dispatch");
        } else {
            builder.all_reduce(all, 1024, Element::fp32, reduction, "dispatch");
        }
        return std::move(builder).finish();
    };
    return spec;
}

Fault wrong_sum(std::uint64_t first, std::uint64_t last) {
    return struck(1, first, last, [](Iteration const& iteration) {
        auto const& sum = std::get<Collective>(iteration.plan.steps.at(0).operation);
        iteration.buffers.base[sum.recv.buffer][sum.recv.offset + 513] ^= std::byte{0x40};
    });
}

TEST(FaultsWhileTimed, OfSumsInPlaceAreCaughtWhereIterationsAreTimedOneByOneInSeveralSlots) {
    for (std::uint64_t const slots : {1U, 4U}) {
        RunSpec const spec =
            rounds_in_place(OperationKind::all_reduce, Reduction::sum, record::CacheMode::rotate, slots);
        EXPECT_EQ(checked_of_clean(spec), slots == 1 ? 6U : 12U);
        expect_invalid(run_with(spec, wrong_sum(second_round, second_round_end)),
                       {"while timing, in round 2", "rank 1:", "byte 513"});
    }
}

TEST(FaultsWhileTimed, OfSumsInPlaceAreCaughtHoweverOftenTheyAreSummedUpAgain) {
    RunSpec const spec = rounds_in_place(OperationKind::all_reduce, Reduction::sum, record::CacheMode::warm);
    EXPECT_EQ(checked_of_clean(spec), 6U);
    // Any single iteration of the second round, as what is wrong is summed up further.
    for (std::uint64_t const iteration : {second_round, second_round + 10, second_round_end}) {
        expect_invalid(run_with(spec, wrong_sum(iteration, iteration)), {"while timing, in round 2", "element 128"});
    }
    expect_invalid(run_with(spec, nothing_delivered(1, second_round, second_round_end)),
                   {"while timing, in round 2", "element 0"});
}

TEST(FaultsWhileTimed, OfAMaximumInPlaceAreCaughtHoweverOftenItIsTaken) {
    RunSpec const spec = rounds_in_place(OperationKind::all_reduce, Reduction::max, record::CacheMode::warm);
    EXPECT_EQ(checked_of_clean(spec), 6U);
    expect_invalid(run_with(spec, wrong_sum(second_round, second_round_end)), {"while timing, in round 2", "byte 513"});
}

TEST(FaultsWhileTimed, OfReducesInPlaceThatAreRepeatedAreNotLookedForAndTheRecordSaysSo) {
    EXPECT_EQ(checked_of_clean(rounds_in_place(OperationKind::reduce, Reduction::sum, record::CacheMode::warm)), 0U);
}

TEST(FaultsWhileTimed, AreNotLookedForWhereNothingIsSent) {
    RunSpec spec{.draws = 1, .options = brief(), .cells = {without_fault()}};
    spec.plan = [](Rank me, int ranks, std::uint32_t /*draw*/) {
        PlanBuilder builder(me);
        builder.barrier(builder.group(world_of(ranks)), "barrier");
        return std::move(builder).finish();
    };
    EXPECT_EQ(checked_of_clean(spec), std::nullopt);
}

TEST(FaultsWhileTimed, OfZerosAreCaughtButForBlocksInEachOthersPlace) {
    for (std::uint64_t const slots : {1U, 4U}) {
        RunSpec spec = six_rounds(slots);
        spec.options.fill = record::Fill::zeros;
        EXPECT_EQ(checked_of_clean(spec), slots == 1 ? 6U : 12U);
        expect_invalid(run_with(spec, struck(1, second_round, second_round_end, flip)),
                       {"while timing, in round 2", "rank 1:", "byte 9 of 256 is 0x01"});
        expect_invalid(run_with(spec, nothing_delivered(1, second_round, second_round_end)),
                       {"round 2", "nothing was written there"});
        expect_invalid(run_with(spec, struck(1, second_round, second_round_end, change_own_data)),
                       {"round 2", "what this rank sends: byte 5", "0x5a"});
    }
}

TEST(FaultsWhileTimed, OfBuffersThatSeveralDrawsShareAreCaughtInWhatArrives) {
    RunSpec spec = six_rounds();
    spec.draws = 4;
    expect_invalid(run_with(spec, struck(1, 4 + 20, 4 + 59, flip)), {"while timing, in round 2", "rank 1:", "byte 9"});
}

TEST(FaultsWhileTimed, ALibraryThatChangesWhatItSendsIsCaughtBeforeTiming) {
    expect_invalid(run({.options = brief(), .cells = {with(struck(1, 0, 1000, change_own_data))}}),
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

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dlmb {
namespace {

constexpr Bytes gib = Bytes{1} << 30;

Plan one_exchange(std::vector<Bytes> const& send, std::vector<Bytes> const& recv) {
    PlanBuilder builder(0);
    builder.exchange(builder.group(test::world_group(static_cast<int>(send.size()))), send, recv, "dispatch");
    return std::move(builder).finish();
}

Exchange const& exchange_of(Plan const& plan) {
    return std::get<Exchange>(plan.steps.at(0).operation);
}

TEST(PlanBuilder, TheSameMembersGiveTheSameGroup) {
    PlanBuilder builder(0);
    GroupId const first = builder.group({{0, 1, 2}});
    EXPECT_EQ(builder.group({{0, 1, 2}}), first);
    EXPECT_NE(builder.group({{0, 2, 1}}), first) << "order is part of a group: it gives the ranks in it";
    EXPECT_EQ(std::move(builder).finish().groups.size(), 2U);
}

TEST(PlanBuilder, ZeroBytesLeaveNoBlock) {
    Plan const plan = one_exchange({5, 0, 7}, {0, 0, 9});
    EXPECT_EQ(exchange_of(plan).send, (std::vector<Block>{{0, 0, 5}, {2, 64, 7}}));
    EXPECT_EQ(exchange_of(plan).recv, (std::vector<Block>{{2, 64, 9}}));
}

TEST(PlanBuilder, ReceiveBlocksKeepTheirDistance) {
    Plan const plan = one_exchange({0, 0, 0}, {64, 1, 130});
    std::vector<Block> const& recv = exchange_of(plan).recv;
    Bytes free_from = 0;
    for (Block const& block : recv) {
        EXPECT_GE(block.offset - free_from, guard_bytes) << "before the block of peer " << block.peer;
        EXPECT_EQ(block.offset % guard_bytes, 0U);
        free_from = block.offset + block.bytes;
    }
    Buffer const& buffer = plan.buffers.at(exchange_of(plan).recv_buffer);
    EXPECT_GE(buffer.bytes - free_from, guard_bytes) << "after the last block";
    EXPECT_EQ(buffer.name, "dispatch.recv");
    EXPECT_EQ(plan.buffers.at(exchange_of(plan).send_buffer).name, "dispatch.send");
}

TEST(PlanBuilder, AnExchangeWithoutAnyBlockIsAStepWithBothBuffers) {
    Plan const plan = one_exchange({0, 0}, {0, 0});
    EXPECT_TRUE(exchange_of(plan).send.empty());
    EXPECT_TRUE(exchange_of(plan).recv.empty());
    EXPECT_EQ(plan.buffers.size(), 2U) << "so that buffer ids agree between draws";
    EXPECT_TRUE(validate_rank(plan).empty());
}

TEST(PlanBuilder, EqualBlocksOfAnySizeAreAdjacentOnBothSides) {
    for (Bytes const bytes : {Bytes{1}, Bytes{64}, Bytes{100}}) {
        Plan const plan = one_exchange({bytes, bytes, bytes}, {bytes, bytes, bytes});
        EXPECT_EQ(exchange_of(plan).send,
                  (std::vector<Block>{{0, 0, bytes}, {1, bytes, bytes}, {2, 2 * bytes, bytes}}));
        EXPECT_EQ(exchange_of(plan).recv,
                  (std::vector<Block>{
                      {0, guard_bytes, bytes}, {1, guard_bytes + bytes, bytes}, {2, guard_bytes + 2 * bytes, bytes}}));
        EXPECT_GE(plan.buffers.at(exchange_of(plan).recv_buffer).bytes, 3 * bytes + 2 * guard_bytes);
        EXPECT_TRUE(validate_rank(plan).empty());
    }
}

TEST(PlanBuilder, OffsetsAboveFourGibibytesStayExact) {
    Plan const plan = one_exchange({3 * gib, 2 * gib, 5}, {2 * gib, 3 * gib, 5});
    // Send blocks are packed: 3 GiB and 5 GiB are multiples of 64. Receive blocks each start one guard later.
    EXPECT_EQ(exchange_of(plan).send, (std::vector<Block>{{0, 0, 3 * gib}, {1, 3 * gib, 2 * gib}, {2, 5 * gib, 5}}));
    EXPECT_EQ(exchange_of(plan).recv,
              (std::vector<Block>{{0, 64, 2 * gib}, {1, 2 * gib + 128, 3 * gib}, {2, 5 * gib + 192, 5}}));
}

TEST(PlanBuilder, ABlockThatEndsAboveTheAddressSpaceIsRefused) {
    EXPECT_THROW(one_exchange({std::numeric_limits<Bytes>::max() - 100, 1}, {0, 0}), Error);
    EXPECT_THROW(one_exchange({Bytes{1} << 63, Bytes{1} << 63}, {0, 0}), Error);
    EXPECT_THROW(one_exchange({std::numeric_limits<Bytes>::max() - 128, 200}, {0, 0}), Error);
}

TEST(PlanBuilder, AnExchangeNeedsOneSizePerMember) {
    PlanBuilder builder(0);
    GroupId const group = builder.group(test::world_group(3));
    std::vector<Bytes> const two{1, 2};
    std::vector<Bytes> const three{1, 2, 3};
    EXPECT_THROW(builder.exchange(group, two, three, "x"), Error);
    EXPECT_THROW(builder.exchange(group, three, two, "x"), Error);
    EXPECT_THROW(builder.exchange(group + 1, three, three, "x"), Error);
}

TEST(PlanBuilder, GatheredBytesMustDivideIntoWholeElements) {
    PlanBuilder builder(0);
    GroupId const group = builder.group(test::world_group(3));
    EXPECT_THROW(builder.all_gather(group, 16, Element::fp32, "x"), Error);  // 16 B are 4 elements for 3 ranks
    EXPECT_THROW(builder.reduce_scatter(group, 18, Element::fp32, Reduction::sum, "x"), Error);
    EXPECT_EQ(builder.all_gather(group, 24, Element::fp32, "x"), 0U);
}

TEST(PlanBuilder, CollectivesGetASideForEachDirection) {
    Plan const plan = test::mixed_plans().at(2);
    auto const& gather = std::get<Collective>(plan.steps.at(test::mixed::gather).operation);
    EXPECT_EQ(gather.bytes, 128U);
    EXPECT_NE(gather.send.buffer, gather.recv.buffer);
    EXPECT_GE(plan.buffers.at(gather.send.buffer).bytes, 128U / 4);
    EXPECT_GE(plan.buffers.at(gather.recv.buffer).bytes, 128 + 2 * guard_bytes);
    auto const& scatter = std::get<Collective>(plan.steps.at(test::mixed::scatter).operation);
    EXPECT_GE(plan.buffers.at(scatter.send.buffer).bytes, 64U);
    EXPECT_EQ(scatter.recv.offset, guard_bytes);
}

// Magicube (arXiv 2209.06979): int4 moves ceil(n / 2) bytes and its scales, odd n included.
TEST(PlanBuilder, PackedRowsMoveTheirCodesAndScalesOnly) {
    constexpr std::uint64_t row_numbers = 201;
    constexpr Bytes row_bytes = 101 + 7 * 4;
    PlanBuilder builder(0);
    GroupId const all = builder.group(test::world_group(3));
    Packing const packing{{Code::int4, 32, ScaleType::fp32}, Element::bf16};
    builder.packed_exchange(all, std::vector<std::uint64_t>{2, 0, 3}, std::vector<std::uint64_t>{2, 1, 0}, row_numbers,
                            packing, "dispatch");
    Plan const plan = std::move(builder).finish();
    ASSERT_EQ(plan.steps.size(), 3U);
    EXPECT_EQ(plan.steps[0].label, "pack.dispatch");
    EXPECT_EQ(plan.steps[1].label, "dispatch");
    EXPECT_EQ(plan.steps[2].label, "unpack.dispatch");
    EXPECT_EQ(plan.steps[1].after, std::vector<StepId>{0});
    EXPECT_EQ(plan.steps[2].after, std::vector<StepId>{1});
    auto const& exchange = std::get<Exchange>(plan.steps[1].operation);
    EXPECT_EQ(exchange.send, (std::vector<Block>{{0, 0, 2 * row_bytes}, {2, 320, 3 * row_bytes}}));
    EXPECT_EQ(exchange.recv, (std::vector<Block>{{0, 64, 2 * row_bytes}, {1, 448, row_bytes}}));
    EXPECT_TRUE(validate_rank(plan).empty());
}

TEST(PlanBuilder, PackedPartsOfAGatherAreRowsOfTheirRanks) {
    PlanBuilder builder(1);
    builder.in_place(true);
    GroupId const all = builder.group(test::world_group(2));
    Packing const packing{{Code::fp8, 128, ScaleType::e8m0}, Element::fp32};
    builder.packed_all_gather(all, std::vector<std::uint64_t>{129, 7}, packing, "parameters");
    builder.packed_all_gather(all, std::vector<std::uint64_t>{33, 33}, packing, "equal");
    Plan const plan = std::move(builder).finish();
    auto const& gather = std::get<Collective>(plan.steps.at(1).operation);
    EXPECT_EQ(gather.shares, (std::vector<Bytes>{129 + 2, 7 + 1}));
    EXPECT_EQ(gather.bytes, 139U);
    auto const& equal = std::get<Collective>(plan.steps.at(4).operation);
    EXPECT_TRUE(equal.shares.empty());
    EXPECT_EQ(equal.bytes, 68U);
    EXPECT_TRUE(validate_rank(plan).empty());
}

TEST(PlanBuilder, AStepThatSendsBeforeItsRowsArePackedIsFound) {
    PlanBuilder builder(0);
    GroupId const all = builder.group(test::world_group(2));
    std::vector<std::uint64_t> const rows{1, 1};
    builder.packed_exchange(all, rows, rows, 64, {{Code::int8, 32, ScaleType::fp32}, Element::bf16}, "dispatch");
    Plan plan = std::move(builder).finish();
    plan.steps[1].after.clear();
    EXPECT_FALSE(validate_rank(plan).empty());
    plan.steps[1].after = {0};
    std::get<Compute>(plan.steps[0].operation).conversion->blocks[0].rows = 1000;
    EXPECT_FALSE(validate_rank(plan).empty()) << "numbers beyond the end of their buffer";
    std::get<Compute>(plan.steps[0].operation).conversion->blocks[0].rows = std::uint64_t{1} << 63U;
    EXPECT_FALSE(validate_rank(plan).empty()) << "numbers whose bytes are a multiple of 2^64";
}

// Rows of 16 bytes: two to rank 0, none to rank 1, three to rank 2, in blocks of their own.
TEST(PlanBuilder, RowsAreMovedToTheBlocksThatTravelAndFromThose) {
    PlanBuilder builder(0);
    GroupId const all = builder.group(test::world_group(3));
    RowOrder const sent{5, {2, 0, 3}, {{2, 3, 0, 1, 1}, {2, 0, 2, 2, 2}, {1, 1, 3, 1, 1}}, {3, 4, 0, 2, 1}};
    RowOrder const received{2, {1, 1, 0}, {{1, 1, 0, 1, 1}, {1, 0, 1, 1, 1}}, {7, 9}};
    builder.rearranged_exchange(all, sent, received, 16, Processor::device, "dispatch");
    Plan plan = std::move(builder).finish();
    auto const& pack = *std::get<Compute>(plan.steps.at(0).operation).rearrangement;
    EXPECT_EQ(pack.by, Processor::device);
    EXPECT_EQ(plan.buffers.at(pack.from).bytes, 128U);
    EXPECT_EQ(pack.runs, (std::vector<RowRun>{{2, 48, 0, 16, 16}, {2, 0, 64, 32, 32}, {1, 16, 80, 16, 16}}));
    EXPECT_EQ(pack.origins, (std::vector<Bytes>{48, 64, 0, 32, 16}));
    EXPECT_EQ(copied_bytes(std::get<Compute>(plan.steps.at(0).operation)), 5 * 16U);
    auto const& unpack = *std::get<Compute>(plan.steps.at(2).operation).rearrangement;
    EXPECT_EQ(unpack.runs, (std::vector<RowRun>{{1, 64, 80, 16, 16}, {1, 192, 64, 16, 16}}));
    EXPECT_EQ(plan.steps.at(1).after, std::vector<StepId>{0});
    EXPECT_EQ(plan.steps.at(2).after, std::vector<StepId>{1});
}

TEST(PlanBuilder, WhatMovesRowsWronglyIsFound) {
    RowOrder const sent{2, {1, 1}, {{1, 1, 0, 1, 1}, {1, 0, 1, 1, 1}}, {}};
    auto const problem_after = [&](auto const& change) {
        PlanBuilder builder(0);
        builder.rearranged_exchange(builder.group(test::world_group(2)), sent, sent, 8, Processor::host, "dispatch");
        Plan plan = std::move(builder).finish();
        EXPECT_TRUE(validate_rank(plan).empty());
        change(plan, *std::get<Compute>(plan.steps[0].operation).rearrangement);
        return !validate_rank(plan).empty();
    };
    EXPECT_TRUE(problem_after([](Plan& plan, Rearrangement&) { plan.steps[1].after.clear(); }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.runs[0].to = rows.runs[1].to; }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.runs[0].from = 1000; }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.runs[0].from = 4; }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.runs[0].rows = std::uint64_t{1} << 62; }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.row_bytes = 4; }));
    EXPECT_TRUE(problem_after([](Plan&, Rearrangement& rows) { rows.origins = {0}; }));
    RowOrder const two_ranks_in_one{2, {1, 1}, {{2, 0, 0, 1, 1}}, {}};
    PlanBuilder builder(0);
    GroupId const all = builder.group(test::world_group(2));
    EXPECT_THROW(builder.rearranged_exchange(all, two_ranks_in_one, sent, 8, Processor::host, "dispatch"), Error);
}

// The rows of RowsAreMovedToTheBlocksThatTravelAndFromThose, in the order in which they travel.
TEST(PlanBuilder, RowsThatLieApartAreOneExchange) {
    PlanBuilder builder(0);
    RowOrder const sent{5, {2, 0, 3}, {{2, 3, 0, 1, 1}, {2, 0, 2, 2, 2}, {1, 1, 3, 1, 1}}, {3, 4, 0, 2, 1}};
    RowOrder const received{2, {1, 1, 0}, {{1, 1, 0, 1, 1}, {1, 0, 1, 1, 1}}, {7, 9}};
    builder.scattered_exchange(builder.group(test::world_group(3)), sent, received, 16, "dispatch");
    Plan const plan = std::move(builder).finish();
    ASSERT_EQ(plan.steps.size(), 1U);
    EXPECT_TRUE(validate_rank(plan).empty());
    auto const& exchange = std::get<Exchange>(plan.steps[0].operation);
    EXPECT_EQ(exchange.send, (std::vector<Block>{{0, 0, 32}, {2, 32, 48}}));
    EXPECT_EQ(exchange.scattered->sent.places(), (std::vector<Bytes>{48, 64, 0, 16, 32}));
    EXPECT_EQ(exchange.scattered->sent.runs, (std::vector<RowPlaces>{{2, 48, 16}, {3, 0, 16}}));
    EXPECT_EQ(exchange.scattered->sent.origins, (std::vector<Bytes>{48, 64, 0, 16, 32}));
    EXPECT_EQ(exchange.scattered->received.places(), (std::vector<Bytes>{80, 64}));
    EXPECT_EQ(exchange.scattered->received.origins, (std::vector<Bytes>{112, 144}));
    EXPECT_EQ(plan.buffers[exchange.recv_buffer].bytes, 192U);
}

TEST(PlanBuilder, RowsWithoutMovesLieAsTheyTravel) {
    PlanBuilder builder(0);
    RowOrder const order{4, {1, 3}, {}, {}};
    builder.scattered_exchange(builder.group(test::world_group(2)), order, order, 8, "dispatch");
    Plan const plan = std::move(builder).finish();
    EXPECT_TRUE(validate_rank(plan).empty());
    EXPECT_EQ(std::get<Exchange>(plan.steps[0].operation).scattered->sent.places(), (std::vector<Bytes>{0, 8, 16, 24}));
}

TEST(PlanBuilder, WrongPlacesOfRowsThatLieApartAreFound) {
    RowOrder const order{4, {2, 2}, {{2, 3, 0, 1, 1}, {1, 2, 2, 1, 1}, {1, 0, 3, 1, 1}}, {}};
    auto const problem_after = [&](auto const& change) {
        PlanBuilder builder(0);
        builder.scattered_exchange(builder.group(test::world_group(2)), RowOrder{5, {2, 2}, order.moves, {}},
                                   RowOrder{5, {2, 2}, order.moves, {}}, 8, "dispatch");
        Plan plan = std::move(builder).finish();
        EXPECT_TRUE(validate_rank(plan).empty());
        change(*std::get<Exchange>(plan.steps[0].operation).scattered);
        return !validate_rank(plan).empty();
    };
    EXPECT_FALSE(problem_after([](ScatteredRows& rows) { rows.sent.runs[1].first = rows.sent.runs[0].first; }))
        << "a row may be sent twice";
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.received.runs[1].first = rows.received.runs[0].first; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.sent.runs[1].first = 1000; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.sent.runs[1].first = 4; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.sent.runs[0].rows = 1; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.sent.runs[0].rows = 3; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.received.runs.pop_back(); }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.received.runs.push_back({1, 64, 8}); }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.row_bytes = 4; }));
    EXPECT_TRUE(problem_after([](ScatteredRows& rows) { rows.sent.origins = {0}; }));
    PlanBuilder builder(0);
    GroupId const all = builder.group(test::world_group(2));
    RowOrder const twice{2, {1, 1}, {{1, 0, 0, 1, 1}, {1, 1, 0, 1, 1}}, {}};
    EXPECT_THROW(builder.scattered_exchange(all, twice, order, 8, "dispatch"), Error);
}

TEST(PlanBuilder, BothSidesOfAnExchangeOfRowsAgreeOnTheirLength) {
    std::vector<Plan> const plans = test::plans_of(2, [](PlanBuilder& builder, GroupId all, Rank me) {
        std::uint64_t const rows = me == 0 ? 2 : 1;
        RowOrder const order{2 * rows, {rows, rows}, {}, {}};
        builder.scattered_exchange(all, order, order, me == 0 ? 8 : 16, "dispatch");
    });
    EXPECT_FALSE(validate(plans).empty());
}

}  // namespace
}  // namespace dlmb

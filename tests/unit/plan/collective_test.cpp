// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The table of operations, and collectives as the blocks that they move.
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb {
namespace {

constexpr int group_ranks = 4;
constexpr Rank third_rank = 2;

TEST(Operations, AreFoundByTheirNames) {
    std::set<std::string_view> names;
    for (OperationFacts const& facts : operation_table) {
        EXPECT_EQ(operation_kind_named(facts.name), facts.kind);
        EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    }
    EXPECT_FALSE(operation_kind_named("all_reduce"));
}

TEST(Operations, HaveTheCallsOfMpiForTheirParts) {
    EXPECT_EQ(mpi_call_for(OperationKind::reduce_scatter, true), MpiCall::reduce_scatter_block);
    EXPECT_EQ(mpi_call_for(OperationKind::reduce_scatter, false), MpiCall::reduce_scatter);
    EXPECT_EQ(mpi_call_for(OperationKind::exchange, true), MpiCall::alltoall);
    EXPECT_EQ(mpi_call_for(OperationKind::exchange, false), MpiCall::alltoallv);
    EXPECT_EQ(mpi_call_for(OperationKind::broadcast, false), MpiCall::bcast);
    EXPECT_FALSE(mpi_call_for(OperationKind::send, true));
    for (MpiCallFacts const& facts : mpi_call_table) {
        EXPECT_EQ(mpi_call_for(facts.operation, facts.parts == CallParts::equal), facts.call) << facts.name;
    }
}

struct Case {
    OperationKind kind = OperationKind::all_reduce;
    bool in_place = false;
    std::vector<Bytes> shares = {};
};

std::vector<Case> every_case() {
    std::vector<Case> cases;
    for (OperationFacts const& facts : operation_table) {
        bool const is_collective = facts.kind >= OperationKind::all_reduce && facts.kind <= OperationKind::broadcast;
        for (bool const in_place : {false, true}) {
            if (is_collective) {
                cases.push_back({facts.kind, in_place, {}});
            }
            if (is_collective && facts.parts != PartSide::none) {
                cases.push_back({facts.kind, in_place, {8, 0, 24, 16}});
            }
        }
    }
    return cases;
}

Plan plan_of(Case const& each, Rank me) {
    PlanBuilder builder(me);
    builder.in_place(each.in_place);
    GroupId const all = builder.group({{0, 1, 2, 3}});
    builder.collective({each.kind, all, third_rank, {}, {}, 48, Element::fp32, Reduction::sum, each.shares}, "step");
    return std::move(builder).finish();
}

TEST(DirectBlocks, MeetOnBothSidesAndBringWhatEachRankGets) {
    ASSERT_EQ(every_case().size(), 22U);
    for (Case const& each : every_case()) {
        std::map<std::pair<Rank, Rank>, Bytes> sent;
        std::map<std::pair<Rank, Rank>, Bytes> received;
        for (Rank me = 0; me < group_ranks; ++me) {
            Plan const plan = plan_of(each, me);
            auto const& step = std::get<Collective>(plan.steps.at(0).operation);
            Exchange const direct = direct_blocks(plan, step);
            for (Block const& block : direct.send) {
                sent[{me, block.peer}] += block.bytes;
            }
            Bytes all = 0;
            for (Block const& block : direct.recv) {
                received[{block.peer, me}] += block.bytes;
                all += block.bytes;
            }
            CollectiveSides const sides = sides_of(plan, step);
            bool const stays = sides.in_place && sides.receives;
            Bytes const expected = reduces(step.kind) ? Bytes{group_ranks} * sides.received
                                   : stays            ? sides.received - sides.part
                                                      : sides.received;
            EXPECT_EQ(all, each.kind == OperationKind::broadcast ? sides.received : expected)
                << name_of(each.kind) << " on rank " << me << (each.in_place ? " in place" : "");
        }
        EXPECT_EQ(sent, received) << name_of(each.kind);
    }
}

}  // namespace
}  // namespace dlmb

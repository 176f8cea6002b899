// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <array>

namespace dlmb {
namespace {

/// Without trailing spaces and with runs of them made one: what is compared are words and numbers, not columns.
std::string words(std::string const& text) {
    std::string squeezed;
    for (char const c : text) {
        if (c == ' ' && (squeezed.empty() || squeezed.back() == ' ' || squeezed.back() == '\n')) {
            continue;
        }
        squeezed += c;
    }
    return squeezed;
}

TEST(PlanText, ShowsStepsMatrixAndTotals) {
    std::vector<Plan> const plans = test::exchange_plans(
        2, [](Rank from, Rank to) { return 100 * static_cast<Bytes>(from + 1) + static_cast<Bytes>(to); });
    EXPECT_EQ(words(to_text(plans)),
              "2 ranks, phases: dispatch. Wire bytes leave or enter a rank; payload includes blocks to self.\n"
              "\n"
              "step operation label payload (B) wire out (B) wire in (B) messages after\n"
              "rank 0\n"
              "0 exchange dispatch 201 101 200 1 -\n"
              "rank 1\n"
              "0 exchange dispatch 401 200 101 1 -\n"
              "\n"
              "phase dispatch\n"
              "payload 602 B, of which 301 B to self; wire 301 B\n"
              // out 101 200, in 200 101: max 200, mean 150.5.
              "busiest rank 200 B, balanced 200.0 B; imbalance (max/mean) send 1.329, recv 1.329\n"
              "bytes from each rank to each rank, self included\n"
              "from\\to 0 1 sum\n"
              "0 100 101 201\n"
              "1 200 201 401\n"
              "\n"
              "all phases\n"
              "payload 602 B, of which 301 B to self; wire 301 B\n"
              "busiest rank 200 B, balanced 200.0 B; imbalance (max/mean) send 1.329, recv 1.329\n"
              "\n"
              "volume over all ranks; sizes: messages by size, in bins that begin at a power of two\n"
              "phase operation group steps messages payload (B) wire (B) sizes\n"
              "dispatch exchange 2 2 2 602 301 64 B:1 128 B:1\n");
}

TEST(PlanText, AddsUpMessagesBytesAndSizesByPhaseAndOperation) {
    std::vector<Plan> const plans = test::plans_of(2, [](PlanBuilder& builder, GroupId both, Rank me) {
        std::array<Bytes, 2> const sizes{100, 100};
        builder.exchange(both, sizes, sizes, "dispatch");
        for (Bytes const bytes : {Bytes{0}, Bytes{3000}}) {
            me == 0 ? builder.send(both, 1, bytes, 0, -1, "forward.a")
                    : builder.recv(both, 0, bytes, 0, -1, "forward.a");
        }
        builder.compute(10, "think");
        builder.all_reduce(both, 4096, Element::fp32, Reduction::sum, "gradients");
    });
    std::string const text = words(to_text(plans));
    EXPECT_EQ(text.substr(text.find("phase operation group")),
              "phase operation group steps messages payload (B) wire (B) sizes\n"
              "dispatch exchange 2 2 2 400 200 64 B:2\n"  // self blocks are no messages
              "forward send 2 2 2 3000 3000 0 B:1 2 K:1\n"
              "gradients allreduce 2 2 2 8192 8192 4 K:2\n");  // 2 S (P-1)/P on each of two ranks
}

TEST(PlanText, PrintsNeighboursWithEqualStepsOnce) {
    std::string const text = words(to_text(test::exchange_plans(4, [](Rank, Rank) { return Bytes{8}; })));
    EXPECT_NE(text.find("ranks 0 to 3\n0 exchange dispatch 32 24 24 3 -\n"), std::string::npos) << text;
}

TEST(PlanText, SummarisesRowsOfManyRanks) {
    // Each of 33 ranks sends 10 B to its neighbour only: max/mean over all 33 possible peers is 33.
    std::string const text = words(to_text(
        test::exchange_plans(33, [](Rank from, Rank to) { return to == (from + 1) % 33 ? Bytes{10} : Bytes{0}; })));
    EXPECT_NE(text.find("from sum (B) max (B) min (B) max/mean\n0 10 10 0 33.000\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("from\\to"), std::string::npos);
}

TEST(PlanText, GivesCollectivesTotalsButNoMatrix) {
    std::string const text = words(to_text(test::mixed_plans()));
    std::size_t const reduce = text.find("phase reduce\n");
    std::size_t const scatter = text.find("phase scatter\n");
    ASSERT_NE(reduce, std::string::npos);
    ASSERT_NE(scatter, std::string::npos);
    std::string const section = text.substr(reduce, scatter - reduce);
    EXPECT_NE(section.find("payload 240 B, of which 0 B to self; wire 360 B\n"), std::string::npos)
        << section;  // 2 * 60 * 3 / 4
    EXPECT_EQ(section.find("from"), std::string::npos) << section;
}

TEST(PlanText, OfARankWithoutStepsSaysSo) {
    EXPECT_NE(to_text(std::vector<Plan>(1)).find("no steps"), std::string::npos);
}

TEST(PlanText, AsksForEachPlanOnceAndInOrder) {
    std::vector<Plan> const plans = test::mixed_plans();
    std::vector<Rank> asked;
    std::string const text = to_text(PlanSource(plans.size(), [&](Rank rank) {
        asked.push_back(rank);
        return plans[static_cast<std::size_t>(rank)];
    }));
    EXPECT_EQ(text, to_text(plans));
    EXPECT_EQ(asked, (std::vector<Rank>{0, 1, 2, 3}));
}

TEST(PlanText, GivesARankARowOfZerosThoughItsPhaseBeginsOnALaterOne) {
    std::vector<Plan> plans = test::exchange_plans(3, [](Rank, Rank) { return Bytes{8}; });
    plans[0] = Plan{};
    std::string const text = words(to_text(plans));
    EXPECT_NE(text.find("\n0 0 0 0 0\n1 8 8 8 24\n"), std::string::npos) << text;
}

TEST(PlanText, OfGoalIsWrittenRankByRank) {
    std::vector<Plan> const plans = test::mixed_plans();
    std::size_t pieces = 0;
    write_goal(plans, [&](std::string_view) { ++pieces; });
    EXPECT_EQ(pieces, plans.size() + 1);
}

}  // namespace
}  // namespace dlmb

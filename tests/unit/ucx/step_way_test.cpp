// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// In how many pieces a part travels (a host reduces small pieces while they are in its cache, a device few large ones),
// and what goes through shared memory.
#include "common/backends/ucx/step_way.hpp"
#include "common/plan/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace dlmb::ucx {
namespace {

constexpr Bytes part = Bytes{8} << 20;
constexpr Bytes quarter = part / 4;

/// What rank 0 of 2 does in one reduce_scatter.
std::vector<algorithms::MicroStep> steps_of(MemoryKind kind, Bytes bytes, char const* method) {
    PlanBuilder builder(0);
    builder.reduce_scatter(builder.group({{0, 1}}), bytes, Element::fp32, Reduction::sum, "dense");
    Plan const plan = std::move(builder).finish();
    std::vector<std::byte> nowhere(1);
    Buffers const buffers{kind, std::vector<std::byte*>(plan.buffers.size(), nowhere.data())};
    MethodTable const table(1);
    auto const ways = ways_of(plan, buffers, table.choose(parse_method(method)), {false, false},
                              {Wire::native, Wire::native, {false, false}}, {});
    return ways.value().front().micro->steps;
}

std::vector<Bytes> pieces_sent(MemoryKind kind, Bytes bytes, char const* method) {
    std::vector<Bytes> sizes;
    for (algorithms::MicroStep const& step : steps_of(kind, bytes, method)) {
        if (step.action == algorithms::Action::send) {
            sizes.push_back(step.bytes);
        }
    }
    return sizes;
}

TEST(StepWay, ADeviceGetsAPartInFourPieces) {
    for (MemoryKind const kind : {MemoryKind::cuda, MemoryKind::managed, MemoryKind::nccl}) {
        EXPECT_EQ(pieces_sent(kind, 2 * part, "ring"), std::vector<Bytes>(4, quarter)) << name_of(kind);
    }
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * part, "auto"), std::vector<Bytes>(4, quarter)) << "auto is ring here";
}

TEST(StepWay, APieceIsReducedAsSoonAsItHasArrivedAndWaitsForNoOther) {
    auto const steps = steps_of(MemoryKind::cuda, 2 * part, "ring");
    int reductions = 0;
    for (algorithms::MicroStep const& step : steps) {
        if (step.action == algorithms::Action::reduce) {
            ++reductions;
            ASSERT_EQ(step.after.size(), 1U);
            algorithms::MicroStep const& arrival = steps[step.after.front()];
            EXPECT_EQ(arrival.action, algorithms::Action::receive);
            EXPECT_EQ(arrival.to, step.left);
            EXPECT_TRUE(arrival.after.empty()) << "all pieces of a part are posted at once";
        }
    }
    EXPECT_EQ(reductions, 4);
}

TEST(StepWay, NoPieceIsSmallerOnADeviceThanOnTheHost) {
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * algorithms::default_segment, "ring"),
              std::vector<Bytes>{algorithms::default_segment});
    EXPECT_EQ(pieces_sent(MemoryKind::host, 2 * part, "ring"),
              std::vector<Bytes>(part / algorithms::default_segment, algorithms::default_segment));
}

TEST(StepWay, TheUsersSegmentHoldsOnADeviceToo) {
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * part, "ring:segment=1M"), std::vector<Bytes>(8, Bytes{1} << 20));
}

/// How rank 0 of `ranks` on one node does the only step that `add` builds.
template <class Add>
StepWay way_on_one_node(int ranks, WindowUse use, Add const& add, char const* method = "auto") {
    Group world;
    for (Rank rank = 0; rank < ranks; ++rank) {
        world.members.push_back(rank);
    }
    PlanBuilder builder(0);
    add(builder, builder.group(world));
    Plan const plan = std::move(builder).finish();
    std::vector<std::byte> nowhere(1);
    Buffers const buffers{MemoryKind::host, std::vector<std::byte*>(plan.buffers.size(), nowhere.data())};
    MethodTable const table(1);
    std::vector<bool> const here(static_cast<std::size_t>(ranks), true);
    ChosenMethods const methods = table.choose(parse_method(method));
    auto ways = ways_of(plan, buffers, methods, here, {Wire::native, Wire::native, here}, methods.window_use(use));
    StepWay way = std::move(ways.value().front());
    way.method = nullptr;  // of a table that ends here
    return way;
}

bool shares_broadcast(int ranks, Bytes bytes, WindowUse use = {}) {
    return way_on_one_node(ranks, use,
                           [bytes](PlanBuilder& builder, GroupId world) {
                               builder.broadcast(world, 0, bytes, Element::byte, "cast");
                           })
        .shared.has_value();
}

bool shares_gather(int ranks, Bytes part_of_one, WindowUse use) {
    return way_on_one_node(ranks, use,
                           [&](PlanBuilder& builder, GroupId world) {
                               builder.all_gather(world, static_cast<Bytes>(ranks) * part_of_one, Element::byte,
                                                  "gather");
                           })
        .shared.has_value();
}

TEST(StepWay, BroadcastsAreSharedBetweenTwoAndAmongMoreFrom16KiBOn) {
    EXPECT_TRUE(shares_broadcast(2, 1));
    EXPECT_TRUE(shares_broadcast(2, Bytes{64} << 20));
    EXPECT_FALSE(shares_broadcast(3, (Bytes{16} << 10) - 1));
    EXPECT_TRUE(shares_broadcast(3, Bytes{16} << 10));
    EXPECT_FALSE(shares_broadcast(2, 0));
}

TEST(StepWay, ABlockBetweenTwoIsAMessageFromItsLimitOn) {
    WindowUse const use{WindowCopies::cached, 50'000};
    EXPECT_TRUE(shares_broadcast(2, 49'999, use));
    EXPECT_FALSE(shares_broadcast(2, 50'000, use));
    EXPECT_TRUE(shares_broadcast(3, 50'000, use));
    EXPECT_TRUE(shares_gather(2, 49'999, use));
    EXPECT_FALSE(shares_gather(2, 50'000, use));
    EXPECT_TRUE(shares_gather(3, 50'000, use));
}

/// The blocks that rank 0 offers to ranks 1 and 2 of 3 in windows, where it has 30 kB for one and 50 kB for the other.
std::optional<std::vector<Bytes>> blocks_in_windows(Bytes messages_from, char const* method = "auto") {
    StepWay const way = way_on_one_node(
        3, {WindowCopies::cached, messages_from},
        [](PlanBuilder& builder, GroupId world) {
            std::array<Bytes, 3> const blocks{0, 30'000, 50'000};
            builder.exchange(world, blocks, blocks, "dispatch");
        },
        method);
    if (!way.shared) {
        return std::nullopt;
    }
    return std::vector{way.shared->plan.offers.at(1).bytes, way.shared->plan.offers.at(2).bytes};
}

TEST(StepWay, OfAnExchangeTheBlocksBelowTheLimitGoThroughWindows) {
    EXPECT_EQ(blocks_in_windows(50'001), (std::vector<Bytes>{30'000, 50'000}));
    EXPECT_EQ(blocks_in_windows(50'000), (std::vector<Bytes>{30'000, 0}));
    EXPECT_EQ(blocks_in_windows(30'000), std::nullopt);
    EXPECT_EQ(blocks_in_windows(30'000, "auto:messages_from=40K"), (std::vector<Bytes>{30'000, 0}));
    EXPECT_EQ(blocks_in_windows(30'000, "shared_memory"), (std::vector<Bytes>{30'000, 50'000})) << "has no limit";
}

}  // namespace
}  // namespace dlmb::ucx

// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// In how many pieces a part travels: a host reduces small pieces while they are in its cache, a device few large ones.
#include "common/backends/ucx/lowering.hpp"
#include "common/formats/plan/builder.hpp"

#include <gtest/gtest.h>

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
    MethodTable const table;
    auto const made = step_methods(plan, buffers, table.choose(parse_method(method)));
    return made.value().front().micro.steps;
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

TEST(StepMethod, ADeviceGetsAPartInFourPieces) {
    for (MemoryKind const kind : {MemoryKind::cuda, MemoryKind::managed, MemoryKind::nccl}) {
        EXPECT_EQ(pieces_sent(kind, 2 * part, "ring"), std::vector<Bytes>(4, quarter)) << name_of(kind);
    }
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * part, "auto"), std::vector<Bytes>(4, quarter)) << "auto is ring here";
}

TEST(StepMethod, APieceIsReducedAsSoonAsItHasArrivedAndWaitsForNoOther) {
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

TEST(StepMethod, NoPieceIsSmallerOnADeviceThanOnTheHost) {
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * algorithms::default_segment, "ring"),
              std::vector<Bytes>{algorithms::default_segment});
    EXPECT_EQ(pieces_sent(MemoryKind::host, 2 * part, "ring"),
              std::vector<Bytes>(part / algorithms::default_segment, algorithms::default_segment));
}

TEST(StepMethod, TheUsersSegmentHoldsOnADeviceToo) {
    EXPECT_EQ(pieces_sent(MemoryKind::cuda, 2 * part, "ring:segment=1M"), std::vector<Bytes>(8, Bytes{1} << 20));
}

}  // namespace
}  // namespace dlmb::ucx
